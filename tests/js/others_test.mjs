// SPDX-License-Identifier: Apache-2.0
// The packages of OpenAI and Anthropic against a running server: node others_test.mjs URL
import assert from 'node:assert/strict';
import { test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const host = process.argv[2];
const model = 'smollm2';
const messages = [{ role: 'user', content: 'Say hello to the world in one sentence.' }];

const openai = new OpenAI({ baseURL: `${host}/v1`, apiKey: 'none', maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: host, apiKey: 'none', maxRetries: 0 });

test('openai: a stream says the same as a whole reply', async () => {
  const ask = { model, messages, temperature: 0, max_tokens: 12 };
  const whole = await openai.chat.completions.create(ask);
  let text = '';
  for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  assert.ok(text);
  assert.equal(text, whole.choices[0].message.content);
});

test('openai: models, embeddings, errors', async () => {
  const names = [];
  for await (const each of openai.models.list()) names.push(each.id);
  assert.ok(names.includes('smollm2:latest'));
  const reply = await openai.embeddings.create({ model, input: 'A cat.' });
  assert.ok(reply.data[0].embedding.length > 100);
  await assert.rejects(openai.chat.completions.create({ model: 'nobody', messages }),
    OpenAI.NotFoundError);
});

test('anthropic: a stream says the same as a whole message', async () => {
  const ask = { model, messages, temperature: 0, max_tokens: 12 };
  const whole = await anthropic.messages.create(ask);
  const stream = anthropic.messages.stream(ask);
  let text = '';
  stream.on('text', (piece) => { text += piece; });
  const message = await stream.finalMessage();
  assert.ok(text);
  assert.equal(text, whole.content[0].text);
  assert.equal(message.content[0].text, text);
  assert.equal(message.stop_reason, whole.stop_reason);
});

test('anthropic: counting, models, errors', async () => {
  const { input_tokens: counted } = await anthropic.messages.countTokens({ model, messages });
  const { usage } = await anthropic.messages.create({ model, messages, max_tokens: 1 });
  assert.equal(counted, usage.input_tokens + usage.cache_read_input_tokens);
  const names = [];
  for await (const each of anthropic.models.list()) names.push(each.id);
  assert.ok(names.includes('smollm2:latest'));
  await assert.rejects(anthropic.messages.create({ model: 'nobody', messages, max_tokens: 1 }),
    Anthropic.NotFoundError);
  await assert.rejects(anthropic.messages.create({ model, messages, max_tokens: 0 }),
    (error) => error instanceof Anthropic.BadRequestError
      && error.error.error.field === 'max_tokens');
});

test('openai: responses, whole, as a stream, and gone on from', async () => {
  const ask = { model, input: messages[0].content, temperature: 0, max_output_tokens: 12 };
  const whole = await openai.responses.create(ask);
  assert.ok(whole.output_text);
  const stream = openai.responses.stream(ask);
  let text = '';
  stream.on('response.output_text.delta', (event) => { text += event.delta; });
  const final = await stream.finalResponse();
  assert.equal(text, whole.output_text);
  assert.equal(final.output_text, whole.output_text);
  const next = await openai.responses.create({ ...ask, previous_response_id: whole.id });
  assert.ok(next.usage.input_tokens > whole.usage.input_tokens);
  const items = [];
  for await (const item of openai.responses.inputItems.list(whole.id)) items.push(item);
  assert.equal(items.length, 1);
  await openai.responses.delete(whole.id);
  await assert.rejects(openai.responses.retrieve(whole.id), OpenAI.NotFoundError);
});
