/**
 * The definition validator: what AWS recorded, what was measured on AWS, what our compiler writes, and anything at all.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../lib/blueprint/json.ts';
import { checkDefinition } from '../../../../lib/local/step-functions/service/definition.ts';
import { validateDefinition } from '../../../../lib/local/step-functions/validate/validate.ts';

const pass = (more: object = {}) => ({ Type: 'Pass', End: true, ...more });
const machine = (states: object, more: object = {}) => ({
  QueryLanguage: 'JSONata',
  StartAt: Object.keys(states)[0],
  States: states,
  ...more,
});
const task = (more: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: { FunctionName: 'f' },
  End: true,
  ...more,
});

/** `CODE: message at location` of every diagnostic. */
function faults(definition: object | string, type: 'STANDARD' | 'EXPRESS' = 'STANDARD'): string[] {
  const text = typeof definition === 'string' ? definition : JSON.stringify(definition);
  return validateDefinition(text, type).map((each) => `${each.code}: ${each.message} at ${each.location}`);
}

describe('refused', () => {
  const schema = (message: string, location: string) => `SCHEMA_VALIDATION_FAILED: ${message} at ${location}`;
  const missing = (target: string, location: string) =>
    `MISSING_TRANSITION_TARGET: Missing 'Next' target: ${target} at ${location}`;
  const nothingEnds = 'MISSING_END_STATE: Workflow has no terminal state at undefined';
  const cases: [string, object | string, string[]][] = [
    [
      'an unknown field of the machine',
      machine({ A: pass() }, { Foo: 1 }),
      [schema("Field 'Foo' is not supported", '/')],
    ],
    [
      'another version',
      machine({ A: pass() }, { Version: '2' }),
      [schema('Value should be one of the following: [1.0]', '/Version')],
    ],
    [
      'a time limit that is none',
      machine({ A: pass() }, { TimeoutSeconds: 0 }),
      [schema('Value should be between 1 and 99999999', '/TimeoutSeconds')],
    ],
    [
      'no states',
      machine({}),
      [schema('These fields are required: [StartAt]', '/'), schema('Value cannot be empty', '/States')],
    ],
    [
      'states that are no object',
      { StartAt: 'A', States: [] },
      [schema('Expected value of type Object', '/States')],
    ],
    [
      'a state that is none',
      machine({ A: pass({ End: undefined, Next: 'B' }), B: 1 }),
      [schema('Expected value of type Object', '/States/B'), nothingEnds],
    ],
    ['no type', machine({ A: { End: true } }), [schema('These fields are required: [Type]', '/States/A')]],
    [
      'a type of every object',
      machine({ A: { Type: 'constructor', End: true } }),
      [
        schema(
          'Value should be one of the following: [Pass, Task, Wait, Parallel, Map, Choice, Succeed, Fail]',
          '/States/A/Type',
        ),
      ],
    ],
    [
      'a long name',
      machine({ ['x'.repeat(81)]: pass() }),
      [`INVALID_STATE_NAME: State name is longer than 80 characters at /States/${'x'.repeat(81)}`],
    ],
    [
      'a field of another type',
      machine({ A: pass({ TimeoutSeconds: 1 }) }),
      [schema("Field 'TimeoutSeconds' is not supported", '/States/A')],
    ],
    [
      'a catcher where none can be',
      machine({ A: pass({ Catch: [] }) }),
      [schema("Field 'Catch' is not supported", '/States/A')],
    ],
    [
      'neither Next nor End',
      machine({ A: { Type: 'Pass' } }),
      [
        schema('This object should have only one of the following fields: [Next, End]', '/States/A'),
        nothingEnds,
      ],
    ],
    [
      'Next and End',
      machine({ A: pass({ Next: 'B' }), B: pass() }),
      [schema('There should only be one of the following fields: [Next, End]', '/States/A')],
    ],
    [
      'a JSONPath field in JSONata',
      machine({ A: pass({ InputPath: '$.x' }) }),
      [
        schema(
          "The QueryLanguage is set to 'JSONata', but field 'InputPath' is only supported for the 'JSONPath' QueryLanguage",
          '/States/A',
        ),
      ],
    ],
    [
      'a JSONata field in JSONPath',
      { StartAt: 'A', States: { A: pass({ Output: 1 }) } },
      [
        schema(
          "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' QueryLanguage",
          '/States/A',
        ),
      ],
    ],
    [
      'a missing Next target',
      machine({ A: { Type: 'Pass', Next: 'NOPE' } }),
      [missing('NOPE', '/States/A/Next'), nothingEnds],
    ],
    [
      'a missing StartAt',
      machine({ A: pass() }, { StartAt: 'B' }),
      [missing('B', '/StartAt'), 'MISSING_TRANSITION_TARGET: State "A" is not reachable. at /States/A'],
    ],
    [
      'missing targets of choices and catchers',
      machine({
        C: {
          Type: 'Choice',
          Choices: [
            { Condition: true, Next: 'X' },
            { Condition: '{% true %}', Next: 'T' },
          ],
          Default: 'Y',
        },
        T: task({ Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Z' }] }),
      }),
      [
        missing('X', '/States/C/Choices[0]/Next'),
        missing('Y', '/States/C/Default'),
        missing('Z', '/States/T/Catch[0]/Next'),
      ],
    ],
    [
      'an unreachable state',
      machine({ A: pass(), B: pass() }),
      ['MISSING_TRANSITION_TARGET: State "B" is not reachable. at /States/B'],
    ],
    [
      'an unreachable circle',
      machine({ A: pass(), B: { Type: 'Pass', Next: 'C' }, C: { Type: 'Pass', Next: 'B' } }),
      [
        'MISSING_TRANSITION_TARGET: State "B" is not reachable. at /States/B',
        'MISSING_TRANSITION_TARGET: State "C" is not reachable. at /States/C',
      ],
    ],
    [
      'no end, which hides what is unreachable',
      machine({
        A: { Type: 'Pass', Next: 'B' },
        B: { Type: 'Pass', Next: 'A' },
        C: { Type: 'Pass', Next: 'A' },
      }),
      [nothingEnds],
    ],
    [
      'a target outside the branch',
      machine({
        P: {
          Type: 'Parallel',
          Branches: [{ StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' } } }],
          Next: 'B',
        },
        B: pass(),
      }),
      [missing('B', '/States/P/Branches[0]/States/A/Next'), nothingEnds],
    ],
    [
      'a name twice in the machine',
      machine({
        P: {
          Type: 'Parallel',
          Branches: [
            { StartAt: 'A', States: { A: pass() } },
            { StartAt: 'A', States: { A: pass() } },
          ],
          End: true,
        },
      }),
      ['DUPLICATE_STATE_NAME: Duplicate State name: A at /States/P/Branches[1]/States/A'],
    ],
    [
      'a name twice in one list',
      '{"StartAt":"A","States":{"A":{"Type":"Pass","End":true},"A":{"Type":"Succeed"}}}',
      ['DUPLICATE_STATE_NAME: Duplicate State name: A at /States/A'],
    ],
    [
      'a field twice',
      '{"StartAt":"A","States":{"A":{"Type":"Pass","Type":"Pass","End":true}}}',
      ["INVALID_JSON_DESCRIPTION: Duplicate field 'Type' at /States/A"],
    ],
    [
      'States.ALL with others',
      machine({ T: task({ Retry: [{ ErrorEquals: ['A', 'States.ALL'] }] }) }),
      [schema('States.ALL must appear alone and at end of list', '/States/T/Retry[0]/ErrorEquals[1]')],
    ],
    [
      'States.ALL not last',
      machine({
        T: task({
          Catch: [
            { ErrorEquals: ['States.ALL'], Next: 'E' },
            { ErrorEquals: ['A'], Next: 'E' },
          ],
        }),
        E: pass(),
      }),
      [schema('States.ALL must appear alone and at end of list', '/States/T/Catch[0]/ErrorEquals[0]')],
    ],
    [
      'an empty ErrorEquals',
      machine({ T: task({ Retry: [{ ErrorEquals: [] }] }) }),
      [schema('Value cannot be empty', '/States/T/Retry[0]/ErrorEquals')],
    ],
    [
      'retriers out of range',
      machine({
        T: task({
          Retry: [
            {
              ErrorEquals: ['A'],
              IntervalSeconds: 0,
              MaxAttempts: -1,
              BackoffRate: 0.5,
              MaxDelaySeconds: 1.5,
              JitterStrategy: 'SOME',
            },
          ],
        }),
      }),
      [
        schema('Value should be between 1 and 99999999', '/States/T/Retry[0]/IntervalSeconds'),
        schema('Value should be between 0 and 99999999', '/States/T/Retry[0]/MaxAttempts'),
        schema(`Value should be between 1 and ${Number.MAX_VALUE}`, '/States/T/Retry[0]/BackoffRate'),
        schema('Expected value of type Integer', '/States/T/Retry[0]/MaxDelaySeconds'),
        schema('Value should be one of the following: [FULL, NONE]', '/States/T/Retry[0]/JitterStrategy'),
      ],
    ],
    [
      'a delay under the interval',
      machine({ T: task({ Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 5, MaxDelaySeconds: 5 }] }) }),
      [schema('MaxDelaySeconds must be greater than IntervalSeconds', '/States/T/Retry[0]/MaxDelaySeconds')],
    ],
    [
      'a resource that is no ARN',
      machine({ T: task({ Resource: 'createToken' }) }),
      [schema('Value is not a valid resource ARN', '/States/T/Resource')],
    ],
    [
      'arguments that the integration does not have',
      machine({ T: task({ Arguments: { Payload: 1, Foo: 2 } }) }),
      [
        schema("The field 'Foo' is not supported by Step Functions", '/States/T/Arguments'),
        schema("The field 'FunctionName' is required but was missing", '/States/T/Arguments'),
      ],
    ],
    [
      'no state machine to start',
      machine({ T: task({ Resource: 'arn:aws:states:::states:startExecution.sync:2', Arguments: {} }) }),
      [schema("The field 'StateMachineArn' is required but was missing", '/States/T/Arguments')],
    ],
    [
      'a choice without rules',
      machine({ C: { Type: 'Choice', Choices: [], Default: 'A' }, A: pass() }),
      [schema('Value cannot be empty', '/States/C/Choices')],
    ],
    [
      'a condition that is text',
      machine({ C: { Type: 'Choice', Choices: [{ Condition: 'yes', Next: 'A' }] }, A: pass() }),
      [schema('Value must be a boolean or a valid JSONata expression', '/States/C/Choices[0]/Condition')],
    ],
    [
      'a wait for nothing',
      machine({ W: { Type: 'Wait', End: true } }),
      [schema('This object should have only one of the following fields: [Seconds, Timestamp]', '/States/W')],
    ],
    [
      'a wait until some day',
      machine({ W: { Type: 'Wait', Timestamp: '2026-13-01T00:00:00Z', End: true } }),
      [schema('String does not match RFC3339 timestamp', '/States/W/Timestamp')],
    ],
    [
      'a map without a processor',
      machine({ M: { Type: 'Map', End: true } }),
      [schema('These fields are required: [ItemProcessor]', '/States/M')],
    ],
    [
      'a distributed map without its type',
      machine({
        M: {
          Type: 'Map',
          End: true,
          ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED' }, StartAt: 'A', States: { A: pass() } },
        },
      }),
      [schema('These fields are required: [ExecutionType]', '/States/M/ItemProcessor/ProcessorConfig')],
    ],
    [
      'an execution type inline',
      machine({
        M: {
          Type: 'Map',
          End: true,
          ItemProcessor: {
            ProcessorConfig: { Mode: 'INLINE', ExecutionType: 'STANDARD' },
            StartAt: 'A',
            States: { A: pass() },
          },
        },
      }),
      [schema("Field 'ExecutionType' is not supported", '/States/M/ItemProcessor/ProcessorConfig')],
    ],
    [
      'a query language for a processor',
      machine({
        M: {
          Type: 'Map',
          End: true,
          ItemProcessor: { QueryLanguage: 'JSONata', StartAt: 'A', States: { A: pass() } },
        },
      }),
      [schema("Field 'QueryLanguage' is not supported", '/States/M/ItemProcessor')],
    ],
    [
      'a label with a colon',
      machine({
        M: {
          Type: 'Map',
          Label: 'a:b',
          End: true,
          ItemProcessor: {
            ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
            StartAt: 'A',
            States: { A: pass() },
          },
        },
      }),
      ['INVALID_LABEL_NAME: The label is not valid at /States/M/Label'],
    ],
    [
      'a variable named states',
      machine({ A: pass({ Assign: { states: 1, 'a-b': 2, ok: 3 } }) }),
      [
        schema("The variable name 'states' is not valid", '/States/A/Assign'),
        schema("The variable name 'a-b' is not valid", '/States/A/Assign'),
      ],
    ],
  ];
  test.each(cases)('%s', (_, definition, expected) => {
    expect(faults(definition)).toEqual(expected);
  });

  test('more than 1 MiB is the door’s to refuse, deep nesting is not met with a crash', () => {
    let states: Json = { A: { Type: 'Pass', End: true } };
    for (let depth = 0; depth < 500; depth += 1) {
      states = {
        [`P${depth}`]: { Type: 'Parallel', End: true, Branches: [{ StartAt: 'x', States: states }] },
      };
    }
    expect(faults(machine(states)).some((each) => each.startsWith('TOO_DEEPLY_NESTED'))).toBe(true);
    const payload = `{"QueryLanguage":"JSONata","StartAt":"A","States":{"A":{"Type":"Pass","End":true,"Output":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`;
    expect(faults(payload)[0]).toMatch(/^TOO_DEEPLY_NESTED/);
    const expression = machine({
      A: pass({ Output: `{% ${'('.repeat(100_000)}1${')'.repeat(100_000)} %}` }),
    });
    expect(faults(expression)[0]).toMatch(/^INVALID_JSONATA_EXPRESSION/);
  });

  test('EXPRESS machines have neither .sync nor distributed maps', () => {
    const sync = machine({
      T: task({
        Resource: 'arn:aws:states:::states:startExecution.sync:2',
        Arguments: { StateMachineArn: 'x' },
      }),
    });
    expect(faults(sync)).toEqual([]);
    expect(faults(sync, 'EXPRESS')).toHaveLength(1);
  });

  test('all faults stand in one sentence at the door', () => {
    const definition = JSON.stringify(machine({ A: { Type: 'Pass', Next: 'B' } }));
    expect(() => checkDefinition(definition, 'STANDARD')).toThrow(
      "Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Missing 'Next' target: B at /States/A/Next, MISSING_END_STATE: Workflow has no terminal state at null'",
    );
  });
});

describe('expressions', () => {
  const output = (expression: string) => faults(machine({ A: pass({ Output: { v: [expression] } }) }));
  test.each([
    // Measured on AWS: the parser's text without its code.
    ['a[1,2)', 'Expected "]", got ","'],
    ['"unterminated', 'String literal must be terminated by a matching quote'],
    ['1 +', 'Unexpected end of expression'],
    ['{"a":}', 'The symbol "}" cannot be used as a unary operator'],
    ['$x :=', 'Unexpected end of expression'],
    ['$match("a", /abc', 'No terminating / in regular expression'],
  ])('does not parse: %s', (source, message) => {
    expect(output(`{%${source}%}`)).toEqual([
      `INVALID_JSONATA_EXPRESSION: ${message} at /States/A/Output/v[0]`,
    ]);
  });

  test.each([
    ['phone', "Reference to 'phone' at the top level is not supported."],
    ['$map($states.input.a, function($x){ b })', "Reference to 'b' at the top level is not supported."],
    ['{"a": phone.x[y]}', "Reference to 'phone' at the top level is not supported."],
    ['$states.input.a[$ = $$.b]', "Reference to '$$' is not supported."],
    ['$states.result', "Field '$states.result' does not exist."],
    ['$states.errorOutput.Error', "Field '$states.errorOutput' does not exist."],
  ])('reads what is not there: %s', (source, message) => {
    expect(output(`{% ${source} %}`)).toEqual([
      `UNSUPPORTED_JSONATA_EXPRESSION: ${message} at /States/A/Output/v[0]`,
    ]);
  });

  test.each([
    '$states.input.items[value > 3].name',
    '$states.input.a{kind: $sum(n)}',
    '$states.input.a^(b, >c)',
    '$x.y & $string($states.context.Execution.Name)',
    '$states.input ~> |a|{"b": c}|',
    '($f := function($a) { $a.b }; $f($states.input))',
    "$states.input.('' & a)",
  ])('is fine: %s', (source) => {
    expect(output(`{% ${source} %}`)).toEqual([]);
  });

  test('a string is an expression only with both its ends', () => {
    expect(output('{% phone')).toEqual([]);
    expect(output(' {% phone %}')).toEqual([]);
  });

  test('what a Task gave and what a catcher caught is readable where it is', () => {
    const states = {
      T: task({
        Output: '{% $states.result.Payload %}',
        Assign: { x: '{% $states.result %}' },
        Catch: [
          {
            ErrorEquals: ['States.ALL'],
            Next: 'E',
            Output: '{% $states.errorOutput %}',
            Assign: { y: '{% $states.errorOutput.Cause %}' },
          },
        ],
      }),
      E: pass(),
    };
    expect(faults(machine(states))).toEqual([]);
    const wrong = machine({ T: task({ Arguments: { FunctionName: '{% $states.result %}' } }) });
    expect(faults(wrong)).toHaveLength(1);
  });
});

const folder = process.env.ASL_CONFORMANCE;
describe.skipIf(folder === undefined)('what AWS recorded (ASL_CONFORMANCE names the folder)', () => {
  const files = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const cases = files
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(folder ?? '', file), 'utf8')) }));

  test('there are definitions that AWS refuses', () => {
    expect(cases.filter((each) => each.expect.createError !== undefined).length).toBeGreaterThan(8);
  });

  test.each(cases)('$file', ({ definition, type, expect: recorded }) => {
    const text = typeof definition === 'string' ? definition : JSON.stringify(definition);
    const { createError } = recorded;
    if (createError === undefined) {
      expect(validateDefinition(text, type)).toEqual([]);
    } else if (createError.operation === 'CreateStateMachine') {
      expect(() => checkDefinition(text, type)).toThrow(createError.message);
    } else {
      expect(validateDefinition(text, type)).toEqual(createError.diagnostics);
    }
  });
});

const corpus = new URL('../../../corpus/valid/', import.meta.url);
describe('what our compiler writes', () => {
  const machines = (existsSync(corpus) ? readdirSync(corpus, { recursive: true, encoding: 'utf8' }) : [])
    .map((file) => ({
      file,
      text: file.endsWith('.json') ? readFileSync(new URL(file, corpus), 'utf8') : '',
    }))
    .filter(({ text }) => text.includes('"StartAt"') && text.includes('"States"'));

  test('there are machines', () => {
    expect(machines.length).toBeGreaterThan(0);
  });

  test.each(machines)('$file', ({ text }) => {
    expect(validateDefinition(text, 'STANDARD')).toEqual([]);
  });
});

describe('anything at all', () => {
  const name = fc.constantFrom('A', 'B', '__proto__', 'constructor', 'toString', ' begin');
  const scalar = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string(),
    fc.constantFrom('{% a %}', '{% $states.input %}'),
  );
  const field = fc.constantFrom(
    'Type',
    'Next',
    'End',
    'Choices',
    'Catch',
    'Retry',
    'Branches',
    'ItemProcessor',
    'States',
    'StartAt',
    'Output',
    'Assign',
    'Arguments',
    'QueryLanguage',
    'ErrorEquals',
  );
  const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.constantFrom<Json>('Pass', 'Task', 'Map', 'Parallel', 'Choice', 'JSONata', 'A'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(field, name), tie('json'), { maxKeys: 6 }),
    ),
  })).json;

  test('gets diagnostics, never an exception', () => {
    fc.assert(
      fc.property(value, fc.dictionary(name, value), (any, states) => {
        validateDefinition(JSON.stringify(any), 'STANDARD');
        for (const diagnostic of validateDefinition(JSON.stringify(machine(states)), 'EXPRESS')) {
          expect(diagnostic.message).not.toBe('');
        }
      }),
      { numRuns: 300 },
    );
    fc.assert(fc.property(fc.string(), (text) => void validateDefinition(text, 'STANDARD')));
  });
});
