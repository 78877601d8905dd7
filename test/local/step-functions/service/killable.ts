/**
 * A service in a process of its own, to be killed: `node BUNDLE DATADIR`. Prints its URL. Its one function, `slow`,
 * answers its payload after 3 ms.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStepFunctions } from '../../../../lib/local/step-functions/service/service.ts';

const service = await createStepFunctions({
  dataDir: process.argv[2] ?? '',
  invokeLambda: (request) =>
    new Promise((resolve) => {
      const answer = {
        statusCode: 200,
        executedVersion: '$LATEST',
        requestId: 'r',
        payload: request.payload,
      };
      setTimeout(() => resolve(answer), 3);
    }),
  onStatusChange: () => {},
});
const server = createServer((request, response) => void service.handle(request, response));
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
