// The worker: it unpacks the program once, and answers each request with a fresh instance, so that neither memory nor a
// failure outlives it.
'use strict';

const DEEP = 'The model is nested more deeply than the stack of the browser allows. The command has a larger one.';
const FULL = 'The memory of the browser is used up.';

/* The memory from which on a failure without a reason is taken for the lack of it, in bytes. */
const MUCH = 2 ** 30;

/* Copies bytes into the memory of an instance. */
function give(reserve, memory, bytes) {
  const at = reserve(bytes.length) >>> 0;
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
}

/* Copies bytes out of it. */
const take = (memory, at, length) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0).slice();

/* What a failure means to the user. */
function told(error, { memory, failure, failure_length: length }) {
  if (error instanceof RangeError || /call stack|out of bounds/.test(error.message)) return DEEP;
  const text = new TextDecoder().decode(take(memory, failure(), length()));
  if (text) return `This is a fault of the program, please report it: ${text}`;
  return memory.buffer.byteLength > MUCH ? FULL : `The program failed: ${error.message}`;
}

async function answer({ module, request, bytes }) {
  const { exports } = await WebAssembly.instantiate(module, {});
  const { memory } = exports;
  try {
    give(exports.request, memory, new TextEncoder().encode(JSON.stringify(request)));
    give(exports.input, memory, bytes);
    exports.run();
    const text = take(memory, exports.answer(), exports.answer_length());
    const output = take(memory, exports.output(), exports.output_length());
    return { answer: JSON.parse(new TextDecoder().decode(text)), output };
  } catch (error) {
    return { answer: { notation: null, done: false, findings: [], message: told(error, exports) }, output: new Uint8Array() };
  }
}

onmessage = async ({ data }) => {
  if (data.packed) {
    postMessage({ module: await WebAssembly.compile(unpack(data.packed, data.size)) });
    return;
  }
  const result = await answer(data);
  postMessage(result, [result.output.buffer]);
};
