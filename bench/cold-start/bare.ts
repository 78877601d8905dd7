/** What a function of the MCP SDK costs by itself. */
import type {} from 'aws-lambda';
import { answer } from './one-tool.ts';

export const handler = awslambda.streamifyResponse(answer);
