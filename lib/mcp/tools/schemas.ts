/** Schemas that several tools share. They are short on purpose: every agent pays for them in tokens. */
import { z } from 'zod';
import type { Json, JsonObject } from '../../blueprint/json.ts';

export const workflowId = z.string().describe('workflow id');
export const runId = z.string();
export const cursor = z.string().optional().describe('nextCursor of the page before');
export const nextCursor = z.string().optional();
/** Any JSON value. What comes over the wire is JSON, so nothing is checked again and the schema stays empty. */
export const json = z.unknown() as z.ZodType<Json>;
export const jsonObject = z.looseObject({}) as unknown as z.ZodType<JsonObject>;

export const params = jsonObject.optional();
export const revision = z.number().min(1).multipleOf(1);

export const runStatus = z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** A diagnostic as agents get it: code, where, what, how to fix. */
export const diagnostics = z.array(
  z.looseObject({ code: z.string(), pointer: z.string(), message: z.string() }),
);

/** Step errors in the one shape of docs/errors.md. */
export const stepErrors = z.array(z.looseObject({ step: z.string(), kind: z.string(), message: z.string() }));
