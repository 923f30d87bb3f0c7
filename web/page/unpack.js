// Unpacks the program: LZMA without a header, which takes a third less than what browsers unpack themselves.
'use strict';

/* The parameters with which build.py packs: 2 ** LITERAL_BITS contexts of literals; positions have no contexts. */
const LITERAL_BITS = 4;

const HALF = 1024;
const probabilities = count => new Uint16Array(count).fill(HALF);

/* The decoder of ranges: bits with adaptive probabilities. */
class Ranges {
  constructor(input) {
    this.input = input;
    this.at = 5;
    this.range = 0xffffffff;
    this.code = new DataView(input.buffer, input.byteOffset).getUint32(1);
  }

  shift() {
    if (this.range >= 0x1000000) return;
    this.range = this.range * 256 >>> 0;
    this.code = (this.code << 8 | this.input[this.at++]) >>> 0;
  }

  bit(of, index) {
    const chance = of[index], bound = (this.range >>> 11) * chance;
    let bit = 0;
    if (this.code < bound) {
      this.range = bound;
      of[index] = chance + (2048 - chance >> 5);
    } else {
      this.range -= bound;
      this.code -= bound;
      of[index] = chance - (chance >> 5);
      bit = 1;
    }
    this.shift();
    return bit;
  }

  /* A number of some bits, the highest first. */
  tree(of, bits, offset = 0) {
    let node = 1;
    for (let i = 0; i < bits; i++) node = node << 1 | this.bit(of, offset + node);
    return node - (1 << bits);
  }

  /* The same, the lowest first. */
  reversed(of, bits, offset = 0) {
    let node = 1, value = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.bit(of, offset + node);
      node = node << 1 | bit;
      value |= bit << i;
    }
    return value;
  }

  /* Bits that are as often zero as one. */
  direct(bits) {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      this.range >>>= 1;
      const bit = this.code >= this.range ? 1 : 0;
      if (bit) this.code -= this.range;
      value = value * 2 + bit;
      this.shift();
    }
    return value;
  }
}

/* The lengths of matches. */
class Lengths {
  constructor() {
    Object.assign(this, { choices: probabilities(2), low: probabilities(8), middle: probabilities(8), high: probabilities(256) });
  }

  next(ranges) {
    if (!ranges.bit(this.choices, 0)) return 2 + ranges.tree(this.low, 3);
    if (!ranges.bit(this.choices, 1)) return 10 + ranges.tree(this.middle, 3);
    return 18 + ranges.tree(this.high, 8);
  }
}

/* The distances of matches. */
class Distances {
  constructor() {
    Object.assign(this, { slots: probabilities(4 * 64), near: probabilities(128), far: probabilities(16) });
  }

  next(ranges, length) {
    const slot = ranges.tree(this.slots, 6, 64 * Math.min(length - 2, 3));
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1, base = (2 | slot & 1) * 2 ** bits;
    if (slot < 14) return base + ranges.reversed(this.near, bits, base - slot);
    return base + ranges.direct(bits - 4) * 16 + ranges.reversed(this.far, 4);
  }
}

/* A literal; after a match, the byte at the last distance is its context. */
function literal(ranges, of, offset, matched) {
  let node = 1;
  if (matched !== null) {
    do {
      const expected = matched >> 7 & 1;
      matched <<= 1;
      const bit = ranges.bit(of, offset + (1 + expected << 8) + node);
      node = node << 1 | bit;
      if (bit !== expected) break;
    } while (node < 256);
  }
  while (node < 256) node = node << 1 | ranges.bit(of, offset + node);
  return node & 255;
}

/* The bytes of a packed text of a known size. */
function unpack(packed, size) {
  const out = new Uint8Array(size), ranges = new Ranges(packed);
  const literals = probabilities(768 << LITERAL_BITS);
  const [isMatch, isRepeat, isOlder, isSecond, isThird, isLong] = Array.from({ length: 6 }, () => probabilities(12));
  const matches = new Lengths(), repeats = new Lengths(), distances = new Distances();
  let at = 0, state = 0, last = [0, 0, 0, 0];
  while (at < size) {
    if (!ranges.bit(isMatch, state)) {
      const offset = 768 * ((at ? out[at - 1] : 0) >> 8 - LITERAL_BITS);
      out[at] = literal(ranges, literals, offset, state < 7 ? null : out[at - last[0] - 1]);
      at++;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length;
    if (!ranges.bit(isRepeat, state)) {
      length = matches.next(ranges);
      last = [distances.next(ranges, length), last[0], last[1], last[2]];
      state = state < 7 ? 7 : 10;
    } else {
      if (!ranges.bit(isOlder, state)) {
        if (!ranges.bit(isLong, state)) {
          out[at] = out[at - last[0] - 1];
          at++;
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else if (!ranges.bit(isSecond, state)) {
        last = [last[1], last[0], last[2], last[3]];
      } else if (!ranges.bit(isThird, state)) {
        last = [last[2], last[0], last[1], last[3]];
      } else {
        last = [last[3], last[0], last[1], last[2]];
      }
      length = repeats.next(ranges);
      state = state < 7 ? 8 : 11;
    }
    const from = at - last[0] - 1;
    if (from < 0) throw new Error('the program in the page is damaged');
    for (let i = 0; i < length && at < size; i++) out[at++] = out[from + i];
  }
  return out;
}
