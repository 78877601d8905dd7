import { expect, it } from 'vitest';
import { createGate } from '../../lib/downstream/gate.ts';

it('lets in as many as it may, the others in the order of their coming', async () => {
  const gate = createGate(2);
  const order: number[] = [];
  expect([gate.enter(), gate.enter()]).toEqual([undefined, undefined]);
  const waiting = [1, 2, 3].map((n) => gate.enter()?.then(() => order.push(n)));
  gate.leave();
  await waiting[0];
  gate.leave();
  await waiting[1];
  expect(order).toEqual([1, 2]);
  expect(gate.inside).toBe(2);
  gate.leave();
  await waiting[2];
  gate.leave();
  gate.leave();
  expect(gate.inside).toBe(0);
});

it('forgets who gave up', async () => {
  const gate = createGate(1);
  expect(gate.enter()).toBeUndefined();
  const controller = new AbortController();
  const impatient = gate.enter(controller.signal);
  const patient = gate.enter(new AbortController().signal);
  controller.abort(new Error('gave up'));
  await expect(impatient).rejects.toThrow('gave up');
  await expect(gate.enter(controller.signal)).rejects.toThrow('gave up');
  gate.leave();
  await patient;
  expect(gate.inside).toBe(1);
});
