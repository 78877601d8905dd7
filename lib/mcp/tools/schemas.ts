/** Schemas that several tools share. They are short on purpose: every agent pays for them in tokens. */
import { z } from 'zod';

export const workflowId = z.string().describe('workflow id');
export const runId = z.string();
export const cursor = z.string().optional().describe('nextCursor of the page before');
export const nextCursor = z.string().optional();
export const params = z.record(z.string(), z.json()).optional();

export const runStatus = z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** A diagnostic as agents get it: code, where, what, how to fix. */
export const diagnostics = z.array(
  z.looseObject({ code: z.string(), pointer: z.string(), message: z.string() }),
);

/** Step errors in the one shape of docs/errors.md. */
export const stepErrors = z.array(z.looseObject({ step: z.string(), kind: z.string(), message: z.string() }));
