/**
 * A function as Lambda scales it: an event that finds no idle container starts another; when there are as many as may be, it waits.
 * Source: Lambda developer guide, "Lambda function scaling".
 */
import type { Json } from '../lib/blueprint/json.ts';
import { createGate } from '../lib/downstream/gate.ts';
import {
  type Container,
  type ContainerOptions,
  type EventWork,
  type FunctionSpec,
  type StreamHead,
  startContainer,
} from './lambda-container.ts';

export interface FunctionOptions extends ContainerOptions {
  /** Default 4. */
  maxContainers?: number;
}

/** An answer that is no stream, as Lambda's Invoke has it. */
interface Answer {
  /** JSON text, also of an error. */
  payload: string;
  functionError?: 'Unhandled';
}

interface StreamReader {
  /** Comes first, or not at all. */
  head(head: StreamHead): void;
  chunk(bytes: Buffer): void;
  /** The whole answer was written, or it broke off. */
  end(error?: { errorType: string; errorMessage: string }): void;
}

export interface LambdaProcess {
  invoke(event: Json, traceHeader?: string): Promise<Answer>;
  /** Resolves when the handler has ended. Aborting the signal tells the handler that its reader has gone. */
  stream(event: Json, reader: StreamReader, signal?: AbortSignal): Promise<void>;
  /** Process ids of all containers that live. */
  pids(): number[];
  /** Ends all containers; resolves when none is left. */
  close(): Promise<void>;
}

export function createLambdaProcess(spec: FunctionSpec, options: FunctionOptions): LambdaProcess {
  const gate = createGate(options.maxContainers ?? 4);
  /** Also those that are just being started, and those that have ended: `close` waits for each. */
  const started: Promise<Container>[] = [];
  const containers = new Set<Container>();
  const idle: Container[] = [];
  let closed = false;

  async function take(): Promise<Container> {
    for (;;) {
      const container = idle.pop();
      if (container === undefined) break;
      if (container.alive()) return container;
    }
    const starting = startContainer(spec, options);
    started.push(starting);
    const container = await starting;
    containers.add(container);
    return container;
  }

  async function run(work: EventWork): Promise<void> {
    await gate.enter();
    try {
      if (closed) throw new Error(`${spec.name} is closed`);
      const container = await take();
      await container.handle(work);
      if (container.alive()) idle.push(container);
    } finally {
      gate.leave();
    }
  }

  return {
    async invoke(event, traceHeader) {
      let answer: Answer | undefined;
      const unhandled = (errorType: string, errorMessage: string, trace: string[] = []): void => {
        const payload = JSON.stringify({ errorType, errorMessage, trace });
        answer ??= { payload, functionError: 'Unhandled' };
      };
      await run({
        event,
        ...(traceHeader === undefined ? {} : { traceHeader }),
        listen(message) {
          if (message.type === 'result') answer = { payload: message.payload ?? 'null' };
          if (message.type === 'error') unhandled(message.errorType, message.errorMessage, message.trace);
          return answer !== undefined;
        },
        failed: unhandled,
      });
      return answer ?? { payload: 'null' };
    },
    async stream(event, reader, signal) {
      let ended = false;
      const end = (error?: { errorType: string; errorMessage: string }): boolean => {
        if (!ended) reader.end(error);
        ended = true;
        return true;
      };
      try {
        await run({
          event,
          ...(signal === undefined ? {} : { signal }),
          listen(message) {
            if (message.type === 'head') reader.head(message);
            if (message.type === 'chunk') reader.chunk(Buffer.from(message.base64, 'base64'));
            if (message.type === 'end') return end();
            if (message.type === 'error') return end(message);
            return ended;
          },
          failed: (errorType, errorMessage) => void end({ errorType, errorMessage }),
        });
      } finally {
        end();
      }
    },
    pids: () => [...containers].filter((each) => each.alive()).flatMap((each) => each.pid ?? []),
    async close() {
      closed = true;
      await Promise.allSettled(started.map(async (starting) => (await starting).end()));
    },
  };
}
