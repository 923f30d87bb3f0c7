// The page: what is open, the options, the runs.
'use strict';

/* The formats of a download: the name of the notation, of the format, and the ending of the file. The program does not
   translate between notations: a format may be for inputs of some notations only. */
const isOnnx = notation => notation.startsWith('onnx');
const FORMATS = [
  ['nnef', 'NNEF', '.nnef', notation => !isOnnx(notation)], ['onnx', 'ONNX', '.onnx', isOnnx],
  ['onnxtxt', 'ONNX text', '.onnxtxt', isOnnx], ['pnnx', 'PNNX', '.pnnx.param', notation => notation === 'pnnx'],
  ['json', 'JSON', '.json'], ['html', 'Picture, page', '.html'], ['svg', 'Picture, SVG', '.svg'], ['dot', 'Graphviz', '.dot'],
];

/* How long typing pauses before the text is read again, in milliseconds. */
const PAUSE = 300;

const byId = id => document.getElementById(id);

class Main {
  constructor() {
    this.engine = new Engine();
    this.source = new Source(() => this.later());
    this.tabs = new Tabs(() => this.look());
    this.listen();
    this.offer();
    this.engine.module.catch(({ message }) => this.say(`This browser cannot run the program: ${message}`));
    document.body.dataset.ready = 'yes';
  }

  listen() {
    const choose = () => byId('chosen').click();
    byId('choose').addEventListener('click', choose);
    byId('choose-first').addEventListener('click', choose);
    byId('chosen').addEventListener('change', event => {
      this.file(event.target.files[0]);
      event.target.value = '';
    });
    byId('stop').addEventListener('click', () => this.stop());
    byId('download').addEventListener('click', () => this.download());
    byId('options').addEventListener('submit', event => event.preventDefault());
    byId('options').addEventListener('input', event => event.target.type === 'text' ? this.later() : this.again());
    document.addEventListener('keydown', event => {
      const typing = event.target.matches('input[type=text], textarea, select');
      if (event.key === 'o' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) choose();
      if (event.key === 'Escape' && this.engine.busy) this.stop();
    });
    this.drops();
  }

  /* Files may be dropped anywhere. */
  drops() {
    const hasFile = event => [...event.dataTransfer?.types ?? []].includes('Files');
    addEventListener('dragover', event => {
      if (!hasFile(event)) return;
      event.preventDefault();
      byId('over').hidden = false;
    });
    addEventListener('dragleave', event => { if (!event.relatedTarget) byId('over').hidden = true; });
    addEventListener('drop', event => {
      if (!hasFile(event)) return;
      event.preventDefault();
      byId('over').hidden = true;
      this.file(event.dataTransfer.files[0]);
    });
  }

  /* The examples, each a block of data in the page. */
  offer() {
    for (const { name, title, about, text } of JSON.parse(block('models'))) {
      const button = element('button', '', element('b', '', title), element('span', '', about));
      button.type = 'button';
      button.addEventListener('click', () => this.open(name, new TextEncoder().encode(text)));
      byId('examples').append(button);
    }
  }

  async file(file) {
    if (file) this.open(file.name, new Uint8Array(await file.arrayBuffer()));
  }

  open(name, bytes) {
    byId('start').hidden = true;
    ['left', 'right', 'file', 'options', 'choose', 'save'].forEach(id => { byId(id).hidden = false; });
    byId('file').textContent = byId('file').title = name;
    document.title = `${name} - nnef-flatten`;
    this.notation = null;
    this.source.show(name, bytes);
    this.again();
  }

  /* Runs again when nothing has been typed for a while. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.again(), PAUSE);
  }

  again() {
    clearTimeout(this.timer);
    if (!this.source.bytes) return;
    this.engine.stop();
    this.tabs.clear();
    this.look();
  }

  options() {
    const given = Object.fromEntries(new FormData(byId('options')));
    const flags = ['share', 'unroll', 'strict'].map(name => [name, name in given]);
    return { ...given, ...Object.fromEntries(flags) };
  }

  /* Asks for something; tells how it goes. */
  async ask(to) {
    const began = performance.now();
    const request = { name: this.source.name, to, options: this.options() };
    const tell = () => {
      const seconds = (performance.now() - began) / 1000;
      if (seconds > 0.3) byId('stop').hidden = false;
      this.say(seconds > 1 ? `working, ${seconds.toFixed(0)} s` : 'working');
    };
    const clock = setInterval(tell, 300);
    const result = await this.engine.ask(request, this.source.bytes);
    clearInterval(clock);
    if (!this.engine.busy) byId('stop').hidden = true;
    if (result) this.say(`${result.answer.notation ?? ''} ${(performance.now() - began).toFixed(0)} ms`.trim());
    return result;
  }

  /* Makes the current view, if it is not there yet. */
  async look() {
    const view = this.tabs.current;
    if (!this.source.bytes || view.shown) return;
    // The notation of the input is known after the first answer.
    if (this.notation === null && view.to(null) !== view.to('onnx')) {
      const first = await this.ask('check');
      if (!first) return;
      this.know(first.answer.notation ?? '');
    }
    const result = await this.ask(view.to(this.notation));
    if (!result) return;
    const { answer, output } = result;
    this.know(answer.notation);
    showFindings(answer, this.source);
    this.can(answer.done);
    if (answer.done) this.tabs.fill(view, view.make(output));
    else this.tabs.say(view, 'The model is refused: the findings say why.', true);
    document.body.dataset.shown = `${view.id} ${answer.done ? 'done' : 'refused'}`;
  }

  /* Takes note of the notation of the input, which tells the formats of the download: at first, it is in the same. */
  know(notation) {
    if (notation === null || notation === this.notation) return;
    const formats = FORMATS.filter(([, , , fits]) => !fits || fits(notation));
    byId('format').replaceChildren(...formats.map(([format, title]) => new Option(title, format)));
    byId('format').value = isOnnx(notation) ? notation : 'nnef';
    this.notation = notation;
  }

  can(done) {
    byId('format').disabled = byId('download').disabled = !done;
  }

  async download() {
    const [to, , ending] = FORMATS.find(([notation]) => notation === byId('format').value);
    const result = await this.ask(to);
    if (!result) return;
    showFindings(result.answer, this.source);
    if (!result.answer.done) return;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([result.output]));
    link.download = this.source.name.replace(/(\.pnnx|\.ncnn)?\.[^.]*$/, '') + '.flat' + ending;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  stop() {
    this.engine.stop();
    byId('stop').hidden = true;
    this.say('stopped');
    if (!this.tabs.current.shown) this.tabs.say(this.tabs.current, 'Stopped.');
    document.body.dataset.shown = 'stopped';
  }

  say(words) {
    byId('status').textContent = words;
  }
}

const main = new Main();
