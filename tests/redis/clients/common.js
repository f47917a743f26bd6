// What the scripts of both clients of Node.js share: HOST PORT FAMILY... as arguments, and printing in one form.
"use strict";

const [host, port, ...families] = process.argv.slice(2);

function plain(value) {
  if (Buffer.isBuffer(value)) return "buffer " + value.toString("hex");
  if (value instanceof Error) return "error " + value.message;
  if (value instanceof Map) return [...value].map(plain).sort();
  if (value instanceof Set) return [...value].map(plain).sort();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "bigint") return String(value);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).sort().map(([k, v]) => [k, plain(v)]));
  }
  return value;
}

function show(name, value) {
  console.log(name, JSON.stringify(plain(value)));
}

async function fails(name, call) {
  try {
    show(name, await call());
  } catch (error) {
    console.log(name, error.constructor.name, error.message);
  }
}

// Runs the parts of a script in their order; those of families that are not asked for are left out.
async function run(always, byFamily, last) {
  for (const part of always) await part();
  for (const [family, part] of Object.entries(byFamily)) {
    if (!families.includes(family)) continue;
    console.log("--", family);
    await part();
  }
  await last();
}

const sorted = (values) => [...values].sort();

module.exports = { host, port: Number(port), families, show, fails, run, sorted };
