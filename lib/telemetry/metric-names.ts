/**
 * The names that metrics have in CloudWatch: what the functions write and the stack's dashboard and alarms read.
 *
 * Every metric has the dimension `service`, the deployment (its prefix) whichever function wrote it (a run may be closed by
 * call-tool or by run-events), and beside it exactly one of the sets below. All values of dimensions come from closed sets: statuses,
 * triggers, error kinds, outcomes and the names of the endpoint's own tools.
 *
 *     Runs             Count          {status}   {status, trigger}      runs that ended; trial calls with their trigger alone
 *     Failures         Count          {kind}                            steps and items that failed
 *     ToolCalls        Count          {outcome}                         calls of downstream tools
 *     ToolCallLatency  Milliseconds   {outcome}
 *     Requests         Count          {outcome}  {tool, outcome}        calls of the endpoint's tools
 *     RequestLatency   Milliseconds   {}         {tool}
 */

export const NAMESPACE = 'McpWorkflowEngine';
/** Value of the dimension `service` where the environment names no deployment (`POWERTOOLS_SERVICE_NAME`). */
export const SERVICE = 'mcp-workflow-engine';

export const METRICS = {
  runs: 'Runs',
  failures: 'Failures',
  toolCalls: 'ToolCalls',
  toolCallLatency: 'ToolCallLatency',
  requests: 'Requests',
  requestLatency: 'RequestLatency',
} as const;
