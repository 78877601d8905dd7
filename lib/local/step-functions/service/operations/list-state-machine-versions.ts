/** ListStateMachineVersions, newest first. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { type Operation, seconds } from '../context.ts';
import { decodeToken, encodeToken, pageSize, takePage } from '../pages.ts';
import { ARN, MAX_RESULTS, NEXT_TOKEN, readParameters } from '../parameters.ts';
import { findMachine } from '../revisions.ts';

export const listStateMachineVersions: Operation = async (context, input) => {
  const request = readParameters(input, {
    stateMachineArn: ARN,
    maxResults: MAX_RESULTS,
    nextToken: NEXT_TOKEN,
  });
  const machine = findMachine(context.machines, request.stateMachineArn);
  const query = ['ListStateMachineVersions', machine.arn];
  const before = decodeToken(query, request.nextToken, context.clock.now());
  const { page, more } = takePage(
    machine.versions.toReversed(),
    pageSize(request.maxResults),
    (version) => typeof before !== 'number' || version.number < before,
  );
  const answer: JsonObject = {
    stateMachineVersions: page.map((version) => ({
      stateMachineVersionArn: `${machine.arn}:${version.number}`,
      creationDate: seconds(version.creationDate),
    })),
  };
  const last = page.at(-1);
  if (more && last !== undefined) answer.nextToken = encodeToken(query, last.number, context.clock.now());
  return answer;
};
