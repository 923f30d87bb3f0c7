//! The instruction dispatcher.

use super::budget::Outcome;
use super::machine::Machine;
use super::program::Instr;
use super::slots::Slot;
use super::unit::UnitId;
use super::value::Value;
use crate::diagnostics::Diagnostic;

impl Machine {
    /// Runs code of the graph, whose frame now has `slots` slots. Calls `define` for each body that is called
    /// but not compiled; `define` must supply it with [`Machine::define`].
    pub(crate) fn run(
        &mut self,
        entry: u32,
        slots: usize,
        define: &mut dyn FnMut(&mut Machine, UnitId),
    ) -> Result<(), Box<Diagnostic>> {
        self.slots.extend(slots);
        self.pc = entry;
        while let Some(missing) = self.steps().map_err(|failure| Box::new(self.diagnose(*failure)))? {
            define(self, missing);
        }
        Ok(())
    }

    /// Runs until the end of the outermost body, or until a body is missing.
    fn steps(&mut self) -> Outcome<Option<UnitId>> {
        loop {
            let pc = self.pc as usize;
            self.pc += 1;
            self.budget.burn(1)?;
            match self.program.instrs[pc] {
                Instr::Const(i) => self.stack.push(self.program.constants[i as usize].clone()),
                Instr::Load(slot) => self.load(slot),
                Instr::Store(slot) => {
                    let value = self.pop();
                    self.put(slot, value);
                }
                Instr::Unary(op) => self.unary(op)?,
                Instr::Binary { op, arrays: false } => self.binary(op)?,
                Instr::Binary { op, arrays: true } => self.join(op)?,
                Instr::Jump(to) => self.pc = to,
                Instr::JumpUnless(to) => {
                    if !self.condition(true)? {
                        self.pc = to;
                    }
                }
                Instr::JumpIf { on, to } => self.short_circuit(to, on)?,
                Instr::Collect { count, tuple } => {
                    let list = self.collect(count)?;
                    self.stack.push(if tuple { Value::Tuple(list) } else { Value::Array(list) });
                }
                Instr::Index => self.index()?,
                Instr::Slice { begin, end } => self.slice(begin, end)?,
                Instr::Builtin(function) => self.builtin(function)?,
                Instr::Call(site) => {
                    if let missing @ Some(_) = self.call(site)? {
                        self.pc = pc as u32;
                        return Ok(missing);
                    }
                }
                Instr::Emit(site) => self.emit(site)?,
                Instr::Repeat(site) => {
                    if let missing @ Some(_) = self.repeat(site)? {
                        self.pc = pc as u32;
                        return Ok(missing);
                    }
                }
                Instr::Step => self.step()?,
                Instr::Unpack(count) => self.unpack(count)?,
                Instr::LoopBegin(index) => self.loop_begin(index)?,
                Instr::LoopNext(index) => self.loop_next(index)?,
                Instr::LoopWhile(index) => self.loop_while(index)?,
                Instr::LoopTurn(index) => self.loop_turn(index)?,
                Instr::LoopEnd => self.loop_end()?,
                Instr::AsTensor => {
                    let value = self.pop();
                    let value = self.as_tensor(value)?;
                    self.stack.push(value);
                }
                Instr::Conform(ty) => {
                    let value = self.pop();
                    let value = self.conform(value, self.program.conversions[ty as usize])?;
                    self.stack.push(value);
                }
                Instr::Defer(block) => {
                    for i in 0..self.program.blocks[block as usize].slots.len() {
                        let slot = self.program.blocks[block as usize].slots[i];
                        *self.slots.get(slot) = Slot::Deferred(block);
                    }
                }
                Instr::EndOfBlock => {
                    if let Some((pc, path)) = self.forces.pop() {
                        self.pc = pc;
                        self.frame().path = path;
                    }
                }
                Instr::Statement(name) => self.frame().path = name,
                Instr::Bind(binding) => self.bind(binding)?,
                Instr::Return => {
                    if self.frames.len() == 1 {
                        return Ok(None);
                    }
                    self.finish_call();
                }
                Instr::ReturnTop(_) => self.return_top(),
            }
        }
    }
}
