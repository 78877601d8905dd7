/**
 * What a function reads from its environment: the variables of variables.ts, as the stack sets them. Each is read once, at the
 * start; what is missing or is not what it should be ends the start with one line that names the variable. A value is told
 * only where it cannot be a secret, and none of these is.
 */
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from '../lib/engine/limits.ts';
import { VARIABLES } from './variables.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The environment of a function is not what the stack gives it. The message is one line. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Reads variables of an environment; everything throws EnvironmentError. */
export class Environment {
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** A text that must be there. */
  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) {
      throw new EnvironmentError(`${name}: the environment variable is missing or empty; the stack sets it`);
    }
    return value;
  }

  /** An empty variable says nothing, as one that is absent. */
  optional(name: string): string | undefined {
    const value = this.#variables[name];
    return value === '' ? undefined : value;
  }

  /** A whole number from 1; `fallback` where there is none. */
  count(name: string, fallback?: number): number {
    const text = fallback === undefined ? this.text(name) : (this.optional(name) ?? String(fallback));
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
      throw new EnvironmentError(`${name}: a whole number from 1 is needed, "${text.slice(0, 40)}" is set`);
    }
    return value;
  }

  /** One of a few words; `fallback` where there is none. */
  oneOf<const Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const value = this.optional(name) ?? fallback;
    const word = words.find((each) => each === value);
    if (word === undefined) {
      throw new EnvironmentError(
        `${name}: one of ${words.join(', ')} is needed, "${value.slice(0, 40)}" is set`,
      );
    }
    return word;
  }

  /** Words that commas separate; empty: none. */
  list(name: string): string[] {
    const words = (this.optional(name) ?? '').split(',').map((word) => word.trim());
    return words.filter((word) => word !== '');
  }

  /** What `parse` makes of a JSON object that must be there; what it throws ends the start under the variable's name. */
  checked<T>(name: string, parse: (value: Record<string, unknown>) => T): T {
    const value = this.json(name);
    try {
      return parse(value);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new EnvironmentError(`${name}: ${message}`, { cause });
    }
  }

  /** A JSON object that must be there. Its text is not told. */
  json(name: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(this.text(name));
    } catch (cause) {
      if (cause instanceof EnvironmentError) throw cause;
      throw new EnvironmentError(`${name}: JSON is needed, and what is set is none`, { cause });
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new EnvironmentError(`${name}: a JSON object is needed`);
    }
    return value as Record<string, unknown>;
  }

  /** Account and partition of an ARN that must be there. */
  arn(name: string): { arn: string; partition: string; accountId: string } {
    const arn = this.text(name);
    const match = /^arn:([a-z-]+):[a-z0-9-]+:[a-z0-9-]*:(\d{12}):.+$/.exec(arn);
    if (match?.[1] === undefined || match[2] === undefined) {
      throw new EnvironmentError(`${name}: an ARN with an account is needed, "${arn.slice(0, 120)}" is set`);
    }
    return { arn, partition: match[1], accountId: match[2] };
  }
}

/** Per-principal limits; what is not set is as `fallback` has it. */
export function engineLimits(
  environment: Environment,
  fallback: EngineLimits = DEFAULT_ENGINE_LIMITS,
): EngineLimits {
  return {
    requestsPerMinute: environment.count(VARIABLES.requestsPerMinute, fallback.requestsPerMinute),
    openRuns: environment.count(VARIABLES.maxOpenRuns, fallback.openRuns),
    waitingRuns: environment.count(VARIABLES.maxWaitingRuns, fallback.waitingRuns),
    schedules: environment.count(VARIABLES.maxSchedules, fallback.schedules),
    minScheduleMinutes: environment.count(VARIABLES.minScheduleMinutes, fallback.minScheduleMinutes),
  };
}
