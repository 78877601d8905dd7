/**
 * The bare handler, and before it what no endpoint of a deployment is without: a secret that tells who may ask, and a write
 * that counts the request. What a function costs beyond this is the engine's own.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { clientConfig } from '../../lib/store/aws-config.ts';
import { answer } from './one-tool.ts';

const config = clientConfig({ region: process.env.AWS_REGION ?? '' });
const secrets = new SecretsManagerClient(config);
const table = DynamoDBDocumentClient.from(new DynamoDBClient(config));

export const handler = awslambda.streamifyResponse(async (event: LambdaFunctionURLEvent, stream) => {
  await secrets.send(new GetSecretValueCommand({ SecretId: 'tokens' }));
  await table.send(
    new UpdateCommand({
      TableName: process.env.MWE_TABLE,
      Key: { pk: 'BENCH', sk: 'requests' },
      UpdateExpression: 'ADD requests :one',
      ExpressionAttributeValues: { ':one': 1 },
    }),
  );
  await answer(event, stream);
});
