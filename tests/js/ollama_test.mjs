// SPDX-License-Identifier: Apache-2.0
// The `ollama` package against a running server: node ollama_test.mjs URL
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ollama } from 'ollama';

const host = process.argv[2];
const ollama = new Ollama({ host });
const model = 'smollm2';
const options = { temperature: 0, num_predict: 12 };
const messages = [{ role: 'user', content: 'Say hello to the world in one sentence.' }];

async function collected(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function until(holds, what) {
  for (const end = Date.now() + 10_000; Date.now() < end;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`in vain waited until ${what}`);
}

test('chat', async () => {
  const reply = await ollama.chat({ model, messages, options });
  assert.equal(reply.message.role, 'assistant');
  assert.ok(reply.message.content);
  assert.equal(reply.done, true);
  assert.ok(['stop', 'length'].includes(reply.done_reason));
  for (const name of ['total_duration', 'load_duration', 'prompt_eval_count', 'prompt_eval_duration',
    'eval_count', 'eval_duration']) {
    assert.ok(Number.isInteger(reply[name]), `${name} is an integer`);
  }
  assert.ok(reply.eval_count <= 12);
});

test('a streamed chat says the same as a whole one', async () => {
  const whole = await ollama.chat({ model, messages, options });
  const parts = await collected(await ollama.chat({ model, messages, options, stream: true }));
  assert.equal(parts.map((part) => part.message.content).join(''), whole.message.content);
  assert.deepEqual(parts.map((part) => part.done), parts.map((_, i) => i === parts.length - 1));
  assert.equal(parts.at(-1).done_reason, whole.done_reason);
  assert.equal(parts.at(-1).eval_count, whole.eval_count);
});

test('generate, raw and streamed', async () => {
  const prompt = 'The capital of France is';
  const whole = await ollama.generate({ model, prompt, raw: true, options });
  assert.match(whole.response, /Paris/);
  const parts = await collected(
    await ollama.generate({ model, prompt, raw: true, options, stream: true }));
  assert.equal(parts.map((part) => part.response).join(''), whole.response);
});

test('a reply follows a schema', async () => {
  const format = {
    type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'],
    additionalProperties: false,
  };
  const reply = await ollama.chat({ model, messages, format, options: { ...options, num_predict: 48 } });
  if (reply.done_reason === 'stop') {
    assert.equal(typeof JSON.parse(reply.message.content).ok, 'boolean');
  }
});

test('embed', async () => {
  const reply = await ollama.embed({ model, input: ['A cat sits on a mat.', 'A stock exchange.'] });
  assert.equal(reply.embeddings.length, 2);
  assert.equal(reply.embeddings[0].length, reply.embeddings[1].length);
  assert.ok(reply.embeddings[0].some((x) => Math.abs(x) > 1e-6));
  const old = await ollama.embeddings({ model, prompt: 'A cat sits on a mat.' });
  assert.equal(old.embedding.length, reply.embeddings[0].length);
});

test('list and show', async () => {
  const { models } = await ollama.list();
  const entry = models.find((each) => each.name === 'smollm2:latest');
  assert.equal(entry.model, 'smollm2:latest');
  assert.ok(entry.size > 1_000_000);
  assert.equal(entry.details.format, 'gguf');
  assert.ok(!Number.isNaN(Date.parse(entry.modified_at)));
  const shown = await ollama.show({ model });
  assert.equal(shown.details.format, 'gguf');
  assert.ok(shown.capabilities.includes('completion'));
  assert.ok(shown.model_info['general.architecture']);
});

test('version', async () => {
  const { version } = await ollama.version();
  assert.match(version, /^\d+\.\d+/);
});

const running = async () => (await ollama.ps()).models.find((each) => each.name === 'smollm2:latest');

test('keep_alive: loads, stays, and gives back', async () => {
  const loaded = await ollama.generate({ model, prompt: '', keep_alive: '10m' });
  assert.equal(loaded.done_reason, 'load');
  const left = Date.parse((await running()).expires_at) - Date.now();
  assert.ok(left > 500_000 && left < 700_000, `${left} ms are left of ten minutes`);
  await ollama.chat({ model, messages, options, keep_alive: 90 });
  const shorter = Date.parse((await running()).expires_at) - Date.now();
  assert.ok(shorter > 30_000 && shorter <= 100_000, `${shorter} ms are left of 90 seconds`);
  const unloaded = await ollama.generate({ model, prompt: '', keep_alive: 0 });
  assert.equal(unloaded.done_reason, 'unload');
  await until(async () => !(await running()), 'the model is gone from the list');
});

test('abort ends a stream', async () => {
  const stream = await ollama.chat({
    model, messages, stream: true, options: { num_predict: 4000 },
  });
  await assert.rejects(async () => {
    for await (const part of stream) {
      if (part.message.content) stream.abort();
    }
  }, { name: 'AbortError' });
  await until(async () => {
    const answer = await fetch(`${host}/api/hearth/models/${model}`);
    return (await answer.json()).active === 0;
  }, 'the place is free again');
});

test('errors have their status and a text', async () => {
  await assert.rejects(ollama.chat({ model: 'nobody', messages }), (error) => {
    assert.equal(error.status_code, 404);
    assert.match(error.message, /nobody/);
    return true;
  });
  await assert.rejects(ollama.chat({ model: 'nobody', messages, stream: true }),
    { status_code: 404 });
  for (const wrong of [{ options: { temperature: 'hot' } }, { keep_alive: 'soon' },
    { options: { num_predct: 5 } }]) {
    await assert.rejects(ollama.chat({ model, messages, ...wrong }), { status_code: 400 });
  }
  await assert.rejects(
    ollama.chat({ model, messages: [{ role: 'user', content: 'hi', images: ['aGk='] }] }),
    { status_code: 400 });
});

test('copy and delete', async () => {
  await ollama.copy({ source: model, destination: 'smollm2-copy' });
  assert.ok((await ollama.list()).models.some((each) => each.name === 'smollm2-copy:latest'));
  await ollama.delete({ model: 'smollm2-copy' });
  await assert.rejects(ollama.show({ model: 'smollm2-copy' }), { status_code: 404 });
});
