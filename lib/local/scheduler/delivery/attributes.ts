/**
 * Context attributes: keywords in a target's input that each attempt replaces by what it knows.
 *
 * Source: EventBridge Scheduler user guide, "Adding context attributes". The guide gives an id "for each attempted
 * invocation"; here one occurrence has one, over all its attempts and over a restart, so it is made from what names the
 * occurrence.
 */
import { hashOf } from '../../step-functions/service/storage/files.ts';
import type { Schedule } from '../records.ts';

export interface Attempt {
  scheduleArn: string;
  /** Epoch milliseconds that the schedule names, not when the attempt is made. */
  scheduledTime: number;
  executionId: string;
  /** From 1. */
  number: number;
}

export function attemptOf(schedule: Schedule, scheduledTime: number, number: number): Attempt {
  return {
    scheduleArn: schedule.arn,
    scheduledTime,
    executionId: hashOf(`${schedule.arn} ${schedule.createdAt} ${scheduledTime}`).slice(0, 16),
    number,
  };
}

/** Seconds and a `Z`, as the guide shows it: `2022-03-22T18:59:43Z`. */
export function scheduledTimeText(scheduledTime: number): string {
  return `${new Date(scheduledTime).toISOString().slice(0, 19)}Z`;
}

/** Replaces what it knows, once; other text in angle brackets stays as it is. */
export function replaceAttributes(input: string, attempt: Attempt): string {
  const values: Readonly<Record<string, string>> = {
    'schedule-arn': attempt.scheduleArn,
    'scheduled-time': scheduledTimeText(attempt.scheduledTime),
    'execution-id': attempt.executionId,
    'attempt-number': String(attempt.number),
  };
  return input.replace(
    /<aws\.scheduler\.(schedule-arn|scheduled-time|execution-id|attempt-number)>/g,
    (keyword, name: string) => values[name] ?? keyword,
  );
}
