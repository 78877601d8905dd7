/**
 * The one table of diagnostic codes. The first digit says what a code is about: 1 shape, 2 names, 3 templates and
 * expressions, 4 references, 5 sub-workflows, 6 tools, 7 flow, 8 expressions that are valid and probably wrong,
 * 9 limits of Step Functions that the compiled machine would meet.
 *
 * Codes are added, never renamed, never reused: agents, tests and pages refer to them. Each has a case in
 * test/corpus/invalid, and docs/errors.md is made from this table.
 */
interface CodeEntry {
  severity: 'error' | 'warning';
  title: string;
  /** Why it is refused or warned about, in a sentence or two. */
  why: string;
  /** What it looks like, as it stands in a blueprint. */
  bad: string;
  /** What to write instead. */
  fix: string;
}

const error = (title: string, why: string, bad: string, fix: string) =>
  ({ severity: 'error', title, why, bad, fix }) as const satisfies CodeEntry;
const warning = (title: string, why: string, bad: string, fix: string) =>
  ({ severity: 'warning', title, why, bad, fix }) as const satisfies CodeEntry;

export const DIAGNOSTIC_CODES = {
  // 1: shape
  BP101: error(
    'Blueprint too large',
    'A blueprint is at most 1 MiB of JSON.',
    'a literal list of 100,000 rows in `over`',
    'Read large data with a tool, or pass it as a parameter of the run.',
  ),
  BP102: error(
    'Nested too deep',
    'JSON may be nested 64 deep.',
    '[[[[ ... ]]]]',
    'Flatten the data, or move inner steps into a sub-workflow.',
  ),
  BP103: error(
    'Not JSON',
    'A blueprint is a JSON object; values that JSON does not have (undefined, NaN, functions, dates) have no meaning in it.',
    '[]',
    '{ "id": "sync", "steps": [ ... ] }',
  ),
  BP104: error(
    'Key not allowed',
    'An object key `__proto__` is dropped or changes objects in many JSON programs on the way to a tool.',
    '{ "params": { "__proto__": {} } }',
    'Choose another key, or let a tool make the object.',
  ),
  BP110: error(
    'Required field missing',
    'Every step needs `id` and `type`; a loop `do`, a parallel `branches`, a pipe and a collect `steps`.',
    '{ "type": "loop", "over": "{{ params.names }}" }',
    '{ "id": "each", "type": "loop", "over": "{{ params.names }}", "do": { ... } }',
  ),
  BP111: error(
    'Unknown field',
    'A field that the language does not have would do nothing, so it is refused.',
    '{ "id": "a", "type": "call", "tool": "t", "parms": {} }',
    '{ "id": "a", "type": "call", "tool": "t", "params": {} }',
  ),
  BP112: error(
    'Wrong type',
    'The field takes another JSON type.',
    '{ "concurrency": "4" }',
    '{ "concurrency": 4 }',
  ),
  BP113: error(
    'Value not allowed',
    'The field takes one of a few words.',
    '{ "onStepFailure": "skip" }',
    '{ "onStepFailure": "continue" }',
  ),
  BP114: error(
    'Outside its limits',
    'The number is below or above what the engine does.',
    '{ "maxRetries": 50 }',
    '{ "maxRetries": 10 }',
  ),
  BP115: error(
    'Name of a tool or workflow not well formed',
    '`tool` is a name or `server/name`; `workflow` is an id or `id@latest`.',
    '{ "workflow": "Sync All" }',
    '{ "workflow": "sync-all" }',
  ),
  BP116: error(
    'List without steps',
    "A list of steps has at least one: the value of the list is its last step's.",
    '{ "type": "pipe", "steps": [] }',
    '{ "type": "pipe", "steps": [ { "id": "read", ... } ] }',
  ),
  BP117: error(
    'Unknown step type',
    'There are five: call, loop, parallel, pipe, collect.',
    '{ "id": "each", "type": "foreach" }',
    '{ "id": "each", "type": "loop", "over": "{{ params.names }}", "do": { ... } }',
  ),
  BP118: error(
    'Exactly one of two fields',
    'A call has `tool` or `workflow`; a loop has `over` or `while`.',
    '{ "id": "a", "type": "call" }',
    '{ "id": "a", "type": "call", "tool": "list_pods" }',
  ),
  BP119: error(
    'Field without meaning here',
    'The field belongs to the other form of the step, and would do nothing.',
    '{ "type": "loop", "over": "{{ params.names }}", "max": 10, "do": { ... } }',
    '{ "type": "loop", "over": "{{ params.names }}", "maxItems": 10, "do": { ... } }',
  ),
  BP120: error(
    'while without max',
    'A loop that nothing bounds could run for ever; reaching `max` is an error, never a cut.',
    '{ "type": "loop", "while": "{{ output.cursor }}", "do": { ... } }',
    '{ "type": "loop", "while": "{{ output.cursor }}", "max": 100, "do": { ... } }',
  ),
  BP121: error(
    'Schedules in an own blueprint',
    'Schedules are deployed with blueprints that ship with the deployment. Whoever saves a blueprint by a tool call schedules it by one, within the limits of its principal.',
    '{ "id": "sync", "schedules": [{ "name": "nightly", "schedule": "cron(0 2 * * ? *)" }], "steps": [ ... ] }',
    'Save the blueprint without "schedules", then call schedule_workflow with its id.',
  ),
  BP122: error(
    'Not a schedule',
    'A schedule is an expression that EventBridge Scheduler takes: cron with six fields, rate, or at; its time zone is a name of the IANA database.',
    '{ "name": "nightly", "schedule": "0 2 * * *" }',
    '{ "name": "nightly", "schedule": "cron(0 2 * * ? *)", "timezone": "Europe/Vienna" }',
  ),
  BP123: error(
    'Parameters of a schedule',
    'A schedule gives the parameters that the blueprint declares, those without a default among them; values and no templates.',
    '{ "name": "nightly", "schedule": "rate(1 day)", "params": { "grpah": "cmdb" } }',
    '{ "name": "nightly", "schedule": "rate(1 day)", "params": { "graph": "cmdb" } }',
  ),
  // 2: names
  BP201: error(
    'Name not well formed',
    'Step ids, parameters and `as` begin with a letter, then up to 63 letters, digits, `_` or `-`. A blueprint id is lower case, up to 48.',
    '{ "id": "list pods" }',
    '{ "id": "list-pods" }',
  ),
  BP202: error(
    'Id used twice',
    'Ids are unique in a blueprint, inner steps included: `steps.ID` must mean one step.',
    '[ { "id": "get", ... }, { "id": "get", ... } ]',
    '[ { "id": "get-pod", ... }, { "id": "get-node", ... } ]',
  ),
  BP203: error(
    'Reserved name',
    'params, steps, results, run, input, output and index are the roots of expressions; names that every JavaScript object has (constructor, toString) are refused too.',
    '{ "id": "results" }',
    '{ "id": "rows" }',
  ),
  BP204: error(
    'Loop name shadows an outer one',
    'Inside, the outer item could no longer be named. `as` is "item" where nothing is written.',
    '{ "type": "loop", "as": "item", ..., "do": { "type": "loop", "as": "item", ... } }',
    '{ "type": "loop", "as": "pod", ..., "do": { "type": "loop", "as": "container", ... } }',
  ),
  BP205: error(
    'Default of the wrong type',
    'The default of a parameter is of its type, or null, which makes the parameter optional.',
    '{ "type": "integer", "default": "5" }',
    '{ "type": "integer", "default": 5 }',
  ),
  BP206: warning(
    'Template in a default',
    'Defaults are data: the text is passed on as it is written, braces and all.',
    '{ "type": "string", "default": "{{ run.date }}" }',
    '{ "type": "string", "default": null }, and "{{ params.day || run.date }}" where it is read',
  ),
  BP207: error(
    'Two schedules of one name',
    'A schedule is known by its name: its runs are counted under it.',
    '"schedules": [{ "name": "nightly", ... }, { "name": "nightly", ... }]',
    'Give each schedule a name of its own.',
  ),
  // 3: templates and expressions
  BP301: error(
    'Expression cannot be read',
    'The text between `{{` and `}}` is not a JMESPath expression.',
    '"{{ steps.pods.items[? }}"',
    '"{{ steps.pods.items[?ready] }}"',
  ),
  BP302: error(
    'Template without an end',
    'A template ends at the first `}}` outside quotes with braces balanced; there is none.',
    '"{{ params.name"',
    '"{{ params.name }}", or "\\\\{{" for the two braces themselves',
  ),
  BP303: error(
    'Expression too long',
    'An expression is at most 2 KiB.',
    'a list of hundreds of names inside one expression',
    'Put data into literal arguments or parameters.',
  ),
  BP304: error(
    'Expression too deep',
    'An expression is nested at most 32 deep.',
    '"{{ ((((((( ... ))))))) }}"',
    'Split it over two steps, or simplify it.',
  ),
  BP305: error(
    'Template in a key',
    'Keys are literal, so that what a step sends can be read from the blueprint.',
    '{ "{{ params.name }}": 1 }',
    'Pass rows ({ "key": "{{ params.name }}", "value": 1 }), or build the object inside one expression.',
  ),
  BP306: error(
    'Not a whole template',
    '`when`, `failWhen`, `while` and `over` are one whole template or a literal; text around it would make it a string.',
    '{ "when": "{{ params.a }} == 1" }',
    '{ "when": "{{ params.a == `1` }}" }',
  ),
  BP307: error(
    'Unknown function',
    'Expressions have the functions of JMESPath and no others.',
    '"{{ len(steps.pods) }}"',
    '"{{ length(steps.pods) }}"',
  ),
  BP308: error(
    'Wrong number of arguments',
    'The function takes another number of arguments.',
    '"{{ join(steps.names) }}"',
    '"{{ join(\', \', steps.names) }}"',
  ),
  BP309: error(
    'Template where a literal is needed',
    '`tool` and `workflow` are literals, so that what a blueprint may do can be read from it.',
    '{ "tool": "{{ params.tool }}" }',
    'One step for each tool, with `when`.',
  ),
  BP310: error(
    'Argument that the function never takes',
    'Whatever the data is, the argument is of a type that the function refuses, so the expression always fails.',
    '"{{ length(`5`) }}"',
    '"{{ length(steps.names) }}"',
  ),
  // 4: references
  BP401: error(
    'Unknown root',
    "An expression begins with params, steps, results, run, or a name that the place has: the loop's item, index, input, output.",
    '"{{ step.pods }}"',
    '"{{ steps.pods }}"',
  ),
  BP402: error(
    'Unknown step',
    'No step of the blueprint has that id.',
    '"{{ steps.list-ns }}"',
    '"{{ steps.namespaces }}"',
  ),
  BP403: error(
    'Step has not run by then',
    'Steps run in order: an expression reads the steps before its own.',
    '[ { "id": "a", "params": { "x": "{{ steps.b }}" } }, { "id": "b", ... } ]',
    'Move the step that is read before the one that reads it.',
  ),
  BP404: error(
    'Step of another branch',
    'Branches run at the same time and cannot read each other.',
    '{ "type": "parallel", "branches": [ { "id": "a", ... }, { "id": "b", "params": { "x": "{{ steps.a }}" } } ] }',
    'Put both into one branch, or read them after the parallel step.',
  ),
  BP405: error(
    'Step inside a loop',
    'A step inside a loop has one value an item and is readable only within the same item.',
    '"{{ steps.get-pod }}" after the loop "pods" around it',
    '"{{ steps.pods[] }}": the value of a loop has the value of each item, in order',
  ),
  BP406: error(
    'Unknown parameter',
    'The blueprint does not declare it.',
    '"{{ params.namspace }}"',
    '"params": { "namespace": { "type": "string" } }',
  ),
  BP407: error(
    'Loop name outside its loop',
    'The item and `index` exist only in the body of their loop, not in its own `over`, `when` or `failWhen`.',
    '{ "id": "report", "params": { "last": "{{ pod.name }}" } } after the loop',
    '"{{ steps.pods[-1].name }}"',
  ),
  BP408: error(
    'input outside a pipe or a while loop',
    '`input` is the value of the step before in a pipe, or of the pass before in a while loop.',
    '{ "steps": [ { "id": "a", ... }, { "id": "b", "params": { "x": "{{ input }}" } } ] }',
    '"{{ steps.a }}", or put both steps into a pipe',
  ),
  BP409: error(
    'output outside select, failWhen and while',
    '`output` is the value that the step itself has just made.',
    '{ "id": "a", "params": { "x": "{{ output }}" } }',
    '"{{ steps.BEFORE }}"',
  ),
  BP410: error(
    'Step id not literal',
    '`steps` and `results` are followed by a literal id, so that what a task must read is known before it runs.',
    '"{{ steps[params.which] }}", "{{ steps.* }}"',
    '"{{ steps.pods }}", or a collect step around those that are read together',
  ),
  // 5: sub-workflows
  BP501: error(
    'Workflow calls itself',
    'A sub-workflow is another workflow; recursion has no end that could be seen before it runs.',
    '{ "id": "sync", "steps": [ { "type": "call", "workflow": "sync" } ] }',
    'Use a loop, or move the repeated part into a workflow of its own.',
  ),
  BP502: error(
    'Workflows call each other in a circle',
    'Some sub-workflow, or one of its own, calls this blueprint again.',
    'a calls b, b calls c, c calls a',
    'Move what both need into a third workflow that calls neither.',
  ),
  BP503: error(
    'Sub-workflows too deep',
    'Sub-workflows are nested at most 10 deep.',
    'a chain of eleven workflows',
    'Call some of them from the outermost workflow, one after another.',
  ),
  BP504: error(
    'Unknown workflow',
    'A sub-workflow is pinned to its current revision when the parent is saved, so it must exist by then.',
    '{ "type": "call", "workflow": "snyc" }',
    'Save the sub-workflow first, or write `id@latest`, which is looked up when the step runs.',
  ),
  BP505: warning(
    'Floating workflow does not exist yet',
    '`id@latest` is looked up when the step runs; there is no such workflow now.',
    '{ "type": "call", "workflow": "later@latest" }',
    'Save the sub-workflow before the first run.',
  ),
  BP506: warning(
    'Arguments do not fit the sub-workflow',
    'The current revision of the sub-workflow declares other parameters; the child run would be refused.',
    '{ "type": "call", "workflow": "sync", "params": { "grpah": "x" } }',
    '{ "type": "call", "workflow": "sync", "params": { "graph": "x" } }',
  ),
  // 6: tools
  BP601: warning(
    'Tool not offered',
    'No connected server offers the tool, or the named server does not; it is looked up again when the step runs.',
    '{ "tool": "list_pod" }',
    '{ "tool": "list_pods" }',
  ),
  BP602: warning(
    'Server not connected',
    'The server is not configured, or it cannot be reached now.',
    '{ "tool": "k9s/list_pods" }',
    'Add the server to mcp.json, or correct the name.',
  ),
  BP603: warning(
    'Tool offered by several servers',
    'Without a server the step cannot be bound, and fails if it is still ambiguous when it runs.',
    '{ "tool": "search" }',
    '{ "tool": "docs/search" }',
  ),
  BP604: warning(
    'Argument refused by the tool',
    "The literal value does not fit the tool's input schema.",
    '{ "tool": "list_pods", "params": { "limit": "ten" } }',
    '{ "tool": "list_pods", "params": { "limit": 10 } }',
  ),
  BP605: warning(
    'Required argument missing',
    "The tool's input schema requires it.",
    '{ "tool": "read_file" }',
    '{ "tool": "read_file", "params": { "path": "README.md" } }',
  ),
  BP606: warning(
    'Argument unknown to the tool',
    "The tool's input schema allows no other arguments than those it lists.",
    '{ "tool": "read_file", "params": { "file": "README.md" } }',
    '{ "tool": "read_file", "params": { "path": "README.md" } }',
  ),
  BP607: warning(
    'Result without a schema and without parse',
    'Without an output schema the value is structured content, parsed JSON, a string or blocks, as the tool happens to answer.',
    '{ "id": "list", "type": "call", "tool": "list_files" }',
    '{ "id": "list", "type": "call", "tool": "list_files", "parse": "lines" }',
  ),
  BP608: error(
    'Tool not allowed to you',
    'Whoever gave you access said which tools you may use. A blueprint is bound to no other, and neither is a sub-workflow that it pins.',
    '{ "tool": "k8s/delete_pod" } with an allow-list of "k8s/list_pods"',
    'Use one of the tools that `list_tools` shows, or ask whoever gave you access for more.',
  ),
  // 7: flow
  BP701: warning(
    'Value that nobody reads',
    'The step only makes a value (it calls a read-only tool, collects, or selects), and no expression reads it.',
    '{ "id": "pods", "type": "call", "tool": "list_pods" } without any steps.pods',
    'Read it, or remove the step.',
  ),
  BP702: warning(
    'Loop beyond a limit',
    'The literal list has more items than `maxItems`, or the loop more calls than a run may make (100,000 attempts).',
    '{ "over": [1, 2, 3], "maxItems": 2 }',
    'Raise `maxItems`, shorten the list, or send many rows in one call.',
  ),
  BP703: warning(
    'concurrency without effect',
    'The passes of a `while` loop run one after another: each reads the one before.',
    '{ "while": "{{ output.next }}", "max": 10, "concurrency": 4 }',
    'Leave `concurrency` out.',
  ),
  BP704: warning(
    'mode without effect',
    'A loop whose body has a sub-workflow or a map loop runs as a map, whatever is written.',
    '{ "mode": "batch", "do": { "type": "call", "workflow": "sync" } }',
    'Leave `mode` out.',
  ),
  BP705: warning(
    'Parameter that nobody reads',
    'It is declared and no expression reads it.',
    '{ "params": { "graph": { "type": "string" } } } without any params.graph',
    'Read it, or remove it.',
  ),
  BP706: warning(
    'Unknown field of results or run',
    '`results.ID` and `run` have fixed fields; any other is always null.',
    '"{{ results.pods.state }}"',
    '"{{ results.pods.status }}"',
  ),
  BP707: warning(
    'continue without effect',
    "In a loop's item and in a pipe a failed step ends the item or the pipe, whatever the step says; whether other items go on is said on the loop.",
    '{ "type": "loop", ..., "do": { "type": "call", ..., "errorStrategy": { "onStepFailure": "continue" } } }',
    '{ "type": "loop", ..., "errorStrategy": { "onStepFailure": "continue" }, "do": { "type": "call", ... } }',
  ),
  // 9: limits of the compiled machine
  BP901: error(
    'Too many history events',
    'Step Functions ends an execution at 25,000 history events. Batch loops cost a handful; a `while` whose passes are states costs some for each pass.',
    '{ "while": "{{ output.next }}", "max": 5000, "do": { "type": "call", "workflow": "sync" } }',
    'Lower `max`, use mode "batch", or move part of the steps into a sub-workflow.',
  ),
  BP902: error(
    'State machine too large',
    'The definition of a state machine is at most 1 MiB: some 1,200 steps that are states.',
    'a blueprint of 3,000 call steps',
    'Use a loop for what repeats, or move part of the steps into a sub-workflow.',
  ),
  BP903: error(
    'Map over too many items',
    'The items of a map travel as one payload of at most 256 KiB, which holds about 130,000.',
    '{ "mode": "map", "maxItems": 500000, ... }',
    'Lower `maxItems`, or use mode "batch".',
  ),
  // 8: expressions that are valid and probably wrong
  BP801: warning(
    'Field where a text was meant',
    'In JMESPath double quotes are around the name of a field; a text is in single quotes.',
    '"{{ steps.pods[?status == \\"Running\\"] }}"',
    '"{{ steps.pods[?status == \'Running\'] }}"',
  ),
  BP802: warning(
    'Field where true, false or null was meant',
    'Literals other than texts are in backticks; without them they are fields of that name.',
    '"{{ steps.pods[?ready == true] }}"',
    '"{{ steps.pods[?ready == `true`] }}"',
  ),
  BP803: warning(
    'Not binds tighter than the dot',
    '`!a.b` is `(!a).b`, a field of a boolean, which is always null.',
    '"{{ !steps.pod.ready }}"',
    '"{{ !(steps.pod.ready) }}"',
  ),
  BP804: warning(
    'Index inside a projection',
    'After a filter or `[]` an index applies to each element, not to the list.',
    '"{{ steps.pods[?name == \'a\'][0] }}"',
    '"{{ steps.pods[?name == \'a\'] | [0] }}"',
  ),
  BP805: warning(
    'Root name without $',
    "Inside `[]`, after a dot and after a pipe a bare name is a field of what is looked at; the scope's own names are behind `$.`.",
    '"{{ steps.pods[?namespace == params.ns] }}"',
    '"{{ steps.pods[?namespace == $.params.ns] }}"',
  ),
  BP806: warning(
    'Function over something that can be null',
    'Functions refuse null: where a tool leaves the field out, or the step is skipped, the step that reads it fails.',
    '"{{ length(steps.pods.items) }}"',
    '"{{ length(steps.pods.items || `[]`) }}"',
  ),
  BP807: warning(
    'Filter for nulls',
    'A projection leaves nulls out, so the list is always empty and its length 0.',
    '"{{ length(steps.each[?@ == `null`]) }}"',
    '"{{ results.each.failed }}"',
  ),
} as const satisfies Record<string, CodeEntry>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
