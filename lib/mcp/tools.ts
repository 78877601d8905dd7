/** The endpoint's tools, in the order they are listed. What is not here does not exist. */
import type { EndpointTool } from './tool.ts';
import { callTool } from './tools/call-tool.ts';
import { cancelRun } from './tools/cancel-run.ts';
import { createWorkflow } from './tools/create-workflow.ts';
import { deleteWorkflow } from './tools/delete-workflow.ts';
import { getRun } from './tools/get-run.ts';
import { getWorkflow } from './tools/get-workflow.ts';
import { listRuns } from './tools/list-runs.ts';
import { listTools } from './tools/list-tools.ts';
import { listWorkflows } from './tools/list-workflows.ts';
import { runWorkflow } from './tools/run-workflow.ts';
import { scheduleWorkflow } from './tools/schedule-workflow.ts';
import { validateWorkflow } from './tools/validate-workflow.ts';

export const ENDPOINT_TOOLS: readonly EndpointTool[] = [
  createWorkflow,
  runWorkflow,
  listWorkflows,
  getWorkflow,
  validateWorkflow,
  deleteWorkflow,
  getRun,
  listRuns,
  cancelRun,
  scheduleWorkflow,
  listTools,
  callTool,
];
