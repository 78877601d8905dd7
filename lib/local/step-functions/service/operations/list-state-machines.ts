/** ListStateMachines, by name. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { type Operation, seconds } from '../context.ts';
import { decodeToken, encodeToken, pageSize, takePage } from '../pages.ts';
import { MAX_RESULTS, NEXT_TOKEN, readParameters } from '../parameters.ts';

export const listStateMachines: Operation = async (context, input) => {
  const request = readParameters(input, { maxResults: MAX_RESULTS, nextToken: NEXT_TOKEN });
  const query = ['ListStateMachines'];
  const after = decodeToken(query, request.nextToken, context.clock.now());
  const { page, more } = takePage(
    context.machines.all().filter((machine) => machine.status === 'ACTIVE'),
    pageSize(request.maxResults),
    (machine) => typeof after !== 'string' || machine.name > after,
  );
  const answer: JsonObject = {
    stateMachines: page.map((machine) => ({
      stateMachineArn: machine.arn,
      name: machine.name,
      type: machine.type,
      creationDate: seconds(machine.creationDate),
    })),
  };
  const last = page.at(-1);
  if (more && last !== undefined) answer.nextToken = encodeToken(query, last.name, context.clock.now());
  return answer;
};
