// The engine: requests to the program, which runs in a worker, so that the page stays usable and a run can be stopped.
'use strict';

/* The text of a block of data in the page. */
const block = id => document.getElementById(id).textContent;

/* An answer without findings, for a failure of the browser. */
const failed = message => ({ answer: { notation: null, done: false, findings: [], message }, output: new Uint8Array() });

class Engine {
  constructor() {
    this.code = URL.createObjectURL(new Blob([block('worker')], { type: 'text/javascript' }));
    this.waiting = [];
    this.module = this.unpacked();
  }

  /* The program, which a worker unpacks. */
  unpacked() {
    const { dataset, textContent } = document.getElementById('program');
    const packed = Uint8Array.from(atob(textContent), character => character.charCodeAt(0));
    const worker = new Worker(this.code);
    return new Promise((done, fail) => {
      worker.onmessage = ({ data }) => {
        worker.terminate();
        done(data.module);
      };
      worker.onerror = ({ message }) => fail(new Error(message));
      worker.postMessage({ packed, size: Number(dataset.size) });
    });
  }

  get busy() {
    return this.waiting.length > 0;
  }

  /* Asks for something; resolves to the answer, or to null if the run was stopped. */
  ask(request, bytes) {
    return new Promise(done => {
      this.waiting.push({ request, bytes, done });
      if (this.waiting.length === 1) this.next();
    });
  }

  async next() {
    const job = this.waiting[0];
    let module;
    try {
      module = await this.module;
    } catch ({ message }) {
      this.finish(failed(`This browser cannot run the program: ${message}`));
      return;
    }
    // It may have been stopped while the program was unpacked.
    if (job !== this.waiting[0]) return;
    if (!this.worker) {
      this.worker = new Worker(this.code);
      this.worker.onmessage = ({ data }) => this.finish(data);
      this.worker.onerror = ({ message }) => {
        this.end();
        this.finish(failed(message));
      };
    }
    this.worker.postMessage({ module, request: job.request, bytes: job.bytes });
  }

  finish(result) {
    this.waiting.shift()?.done(result);
    if (this.busy) this.next();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  /* Stops what runs and what waits. */
  stop() {
    if (!this.busy) return;
    this.end();
    this.waiting.splice(0).forEach(({ done }) => done(null));
  }
}
