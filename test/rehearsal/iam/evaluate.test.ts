/** The evaluator against what the IAM user guide says of each element, and properties that hold of any policy. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../lib/blueprint/json.ts';
import type { RequestContext } from '../../../rehearsal/iam/conditions.ts';
import { type Caller, type Decision, evaluate } from '../../../rehearsal/iam/evaluate.ts';
import { parsePolicy, type Statement } from '../../../rehearsal/iam/policy.ts';

const ROLE: Caller = { kind: 'aws', arn: 'arn:aws:iam::000000000000:role/endpoint' };
const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/mwe';

const identity = (statement: Json): Statement[] =>
  parsePolicy('identity', { Version: '2012-10-17', Statement: statement }, 'policy');
const resource = (statement: Json): Statement[] =>
  parsePolicy('resource', { Version: '2012-10-17', Statement: statement }, 'policy');

interface Asked {
  caller?: Caller;
  action: string;
  resource: string;
  context?: RequestContext;
}

function ask(asked: Asked, own: Statement[], of: Statement[] = []): Decision['outcome'] {
  return evaluate({ caller: ROLE, context: {}, ...asked }, { identity: own, resource: of }).outcome;
}

describe('actions and resources', () => {
  const cases: [string, string, string, string, Decision['outcome']][] = [
    // Action in the policy, resource in the policy, action asked, resource asked.
    ['dynamodb:GetItem', TABLE, 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:getitem', TABLE, 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:Get*', TABLE, 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:*Item', TABLE, 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:GetIte?', TABLE, 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:GetItem?', TABLE, 'dynamodb:GetItem', TABLE, 'not allowed'],
    ['dynamodb:Get', TABLE, 'dynamodb:GetItem', TABLE, 'not allowed'],
    ['s3:*', '*', 'dynamodb:GetItem', TABLE, 'not allowed'],
    ['*', '*', 'dynamodb:GetItem', TABLE, 'allowed'],
    ['dynamodb:GetItem', `${TABLE}/index/*`, 'dynamodb:GetItem', TABLE, 'not allowed'],
    ['dynamodb:Query', `${TABLE}/index/*`, 'dynamodb:Query', `${TABLE}/index/by-time`, 'allowed'],
    ['dynamodb:Query', TABLE, 'dynamodb:Query', `${TABLE}/index/by-time`, 'not allowed'],
    [
      'dynamodb:GetItem',
      TABLE.toUpperCase().replace('ARN:', 'arn:'),
      'dynamodb:GetItem',
      TABLE,
      'not allowed',
    ],
    ['s3:GetObject', 'arn:aws:s3:::bucket/*', 's3:GetObject', 'arn:aws:s3:::bucket/a/b/c', 'allowed'],
    ['s3:GetObject', 'arn:aws:s3:::bucket/*', 's3:GetObject', 'arn:aws:s3:::bucket', 'not allowed'],
    ['s3:GetObject', 'arn:aws:s3:::bucket/*', 's3:GetObject', 'arn:aws:s3:::bucket2/a', 'not allowed'],
  ];
  it.each(cases)('%s on %s, asked %s on %s: %s', (action, on, asked, about, outcome) => {
    expect(
      ask({ action: asked, resource: about }, identity({ Effect: 'Allow', Action: action, Resource: on })),
    ).toBe(outcome);
  });
});

describe('conditions', () => {
  const when = (condition: Json, context: RequestContext): Decision['outcome'] =>
    ask(
      { action: 'a:B', resource: TABLE, context },
      identity({ Effect: 'Allow', Action: 'a:B', Resource: '*', Condition: condition }),
    );
  const role = 'arn:aws:iam::000000000000:role/x';
  const cases: [string, Json, RequestContext, boolean][] = [
    ['one of the values', { StringEquals: { 'a:k': ['x', 'y'] } }, { 'a:k': 'y' }, true],
    ['none of the values', { StringEquals: { 'a:k': ['x', 'y'] } }, { 'a:k': 'z' }, false],
    ['values have case', { StringEquals: { 'a:k': 'x' } }, { 'a:k': 'X' }, false],
    ['keys have none', { StringEquals: { 'A:K': 'x' } }, { 'a:k': 'x' }, true],
    ['an absent key', { StringEquals: { 'a:k': 'x' } }, {}, false],
    ['an absent key, negated', { StringNotEquals: { 'a:k': 'x' } }, {}, true],
    ['an absent key, if it exists', { StringEqualsIfExists: { 'a:k': 'x' } }, {}, true],
    ['another value, if it exists', { StringEqualsIfExists: { 'a:k': 'x' } }, { 'a:k': 'y' }, false],
    ['a negated list is NOR', { StringNotEquals: { 'a:k': ['x', 'y'] } }, { 'a:k': 'x' }, false],
    ['equals knows no wildcard', { StringEquals: { 'a:k': 'x*' } }, { 'a:k': 'xy' }, false],
    ['like does', { StringLike: { 'a:k': 'x*' } }, { 'a:k': 'xy' }, true],
    ['not like', { StringNotLike: { 'a:k': 'x*' } }, { 'a:k': 'xy' }, false],
    ['an ARN', { ArnEquals: { 'a:k': role } }, { 'a:k': role }, true],
    [
      'ArnEquals has wildcards',
      { ArnEquals: { 'a:k': 'arn:aws:iam::000000000000:role/*' } },
      { 'a:k': role },
      true,
    ],
    ['no ARN at all', { ArnLike: { 'a:k': 'arn:aws:iam::000000000000:role/*' } }, { 'a:k': 'x' }, false],
    ['ArnNotLike', { ArnNotLike: { 'a:k': 'arn:aws:iam::000000000000:role/*' } }, { 'a:k': role }, false],
    ['a boolean', { Bool: { 'aws:SecureTransport': false } }, { 'aws:SecureTransport': 'true' }, false],
    ['a boolean that is absent', { Bool: { 'aws:SecureTransport': 'false' } }, {}, false],
    ['null of an absent key', { Null: { 'a:k': 'true' } }, {}, true],
    ['null of a key that is there', { Null: { 'a:k': 'true' } }, { 'a:k': 'x' }, false],
    ['not null', { Null: { 'a:k': 'false' } }, { 'a:k': 'x' }, true],
    ['all of many', { 'ForAllValues:StringEquals': { 'a:k': ['x', 'y'] } }, { 'a:k': ['x', 'y'] }, true],
    ['not all of many', { 'ForAllValues:StringEquals': { 'a:k': ['x'] } }, { 'a:k': ['x', 'y'] }, false],
    ['all of none', { 'ForAllValues:StringEquals': { 'a:k': ['x'] } }, {}, true],
    ['any of many', { 'ForAnyValue:StringLike': { 'a:k': 'x*' } }, { 'a:k': ['y', 'xx'] }, true],
    ['any of none', { 'ForAnyValue:StringLike': { 'a:k': 'x*' } }, {}, false],
    [
      'two operators, one fails',
      { StringEquals: { 'a:k': 'x' }, Bool: { 'a:b': 'true' } },
      { 'a:k': 'x' },
      false,
    ],
    ['two keys, one fails', { StringEquals: { 'a:k': 'x', 'a:l': 'y' } }, { 'a:k': 'x', 'a:l': 'z' }, false],
  ];
  it.each(cases)('%s', (_name, condition, context, holds) => {
    expect(when(condition, context)).toBe(holds ? 'allowed' : 'not allowed');
  });

  it('judges no list by an operator for one value', () => {
    expect(() => when({ StringEquals: { 'a:k': 'x' } }, { 'a:k': ['x'] })).toThrow('ForAllValues');
  });
});

describe('policies of resources', () => {
  const lambda = 'arn:aws:lambda:us-east-1:000000000000:function:f';
  const statement = (principal: Json, more: Record<string, Json> = {}): Statement[] =>
    resource({
      Effect: 'Allow',
      Principal: principal,
      Action: 'lambda:InvokeFunction',
      Resource: lambda,
      ...more,
    });
  const events: Caller = { kind: 'service', name: 'events.amazonaws.com' };
  const cases: [string, Json, Caller, boolean][] = [
    ['everyone', '*', { kind: 'anonymous' }, true],
    ['everyone with an account', { AWS: '*' }, ROLE, true],
    ['a service', { Service: 'events.amazonaws.com' }, events, true],
    ['another service', { Service: 'scheduler.amazonaws.com' }, events, false],
    ['a service is no role', { Service: 'events.amazonaws.com' }, ROLE, false],
    ['a role', { AWS: 'arn:aws:iam::000000000000:role/endpoint' }, ROLE, true],
    ['another role', { AWS: 'arn:aws:iam::000000000000:role/other' }, ROLE, false],
    ['an account allows nobody by itself', { AWS: '000000000000' }, ROLE, false],
  ];
  it.each(cases)('%s', (_name, principal, caller, allowed) => {
    expect(ask({ caller, action: 'lambda:InvokeFunction', resource: lambda }, [], statement(principal))).toBe(
      allowed ? 'allowed' : 'not allowed',
    );
  });

  it('is enough within an account, and its deny ends it', () => {
    const deny = resource({
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:*',
      Resource: ['arn:aws:s3:::b', 'arn:aws:s3:::b/*'],
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    const allow = identity({ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' });
    const over = (tls: string): Decision['outcome'] =>
      ask(
        { action: 's3:GetObject', resource: 'arn:aws:s3:::b/k', context: { 'aws:SecureTransport': tls } },
        allow,
        deny,
      );
    expect(over('true')).toBe('allowed');
    expect(over('false')).toBe('explicitly denied');
  });

  it('reads trust as a policy without a resource', () => {
    const trust = parsePolicy(
      'trust',
      {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: 'scheduler.amazonaws.com' },
            Action: 'sts:AssumeRole',
            Condition: { StringEquals: { 'aws:SourceAccount': '000000000000' } },
          },
        ],
      },
      'trust',
    );
    const assume = (name: string, account: string): Decision['outcome'] =>
      ask(
        {
          caller: { kind: 'service', name },
          action: 'sts:AssumeRole',
          resource: 'arn:aws:iam::000000000000:role/schedule',
          context: { 'aws:SourceAccount': account },
        },
        [],
        trust,
      );
    expect(assume('scheduler.amazonaws.com', '000000000000')).toBe('allowed');
    expect(assume('scheduler.amazonaws.com', '111111111111')).toBe('not allowed');
    expect(assume('states.amazonaws.com', '000000000000')).toBe('not allowed');
  });
});

describe('what is not known is refused, with its place', () => {
  const base = { Effect: 'Allow', Action: 's3:GetObject', Resource: '*' };
  const cases: [string, Json, string][] = [
    [
      'NotAction',
      { Effect: 'Allow', NotAction: 's3:GetObject', Resource: '*' },
      'policy/0: the element NotAction',
    ],
    ['NotResource', { Effect: 'Allow', Action: 's3:GetObject', NotResource: '*' }, 'the element NotResource'],
    ['a principal in an identity policy', { ...base, Principal: '*' }, 'the element Principal'],
    ['an operator', { ...base, Condition: { DateLessThan: { k: 'x' } } }, 'policy/0/Condition/DateLessThan'],
    [
      'a set of nothing',
      { ...base, Condition: { 'ForSome:StringEquals': { k: 'x' } } },
      'ForSome:StringEquals',
    ],
    ['an inherited name', { ...base, Condition: { toString: { k: 'x' } } }, 'the operator toString'],
    ['a number', { ...base, Condition: { StringEquals: { k: 3 } } }, 'Condition/StringEquals/k: 3'],
    ['no number', { ...base, Condition: { NumericLessThan: { k: 'x' } } }, 'NumericLessThan/k: "x"'],
    ['a policy variable', { ...base, Resource: `arn:aws:s3:::b/\${aws:username}` }, 'the policy variable'],
    [
      'one in a condition',
      { ...base, Condition: { StringEquals: { k: `\${aws:username}` } } },
      'policy variable',
    ],
    ['no service', { ...base, Action: 'GetObject' }, 'policy/0/Action: "GetObject"'],
    ['a wildcard for services', { ...base, Action: 's*:GetObject' }, '"s*:GetObject"'],
    ['a wildcard for regions', { ...base, Resource: 'arn:aws:sqs:*:000000000000:q' }, 'first five parts'],
    ['an effect', { ...base, Effect: 'allow' }, 'policy/0/Effect: "allow"'],
    ['no action', { Effect: 'Allow', Resource: '*' }, 'policy/0/Action: nothing'],
    ['a list that is none', { ...base, Action: [{ a: 1 }] }, 'policy/0/Action'],
  ];
  it.each(cases)('%s', (_name, statement, message) => {
    expect(() => identity(statement)).toThrow(message);
  });

  it('other versions, whose texts mean other things', () => {
    expect(() => parsePolicy('identity', { Version: '2008-10-17', Statement: base }, 'p')).toThrow(
      'p/Version',
    );
  });

  it('a deny for a whole account', () => {
    const deny = resource({ ...base, Effect: 'Deny', Principal: { AWS: 'arn:aws:iam::000000000000:root' } });
    expect(() => ask({ action: 's3:GetObject', resource: 'arn:aws:s3:::b/k' }, [], deny)).toThrow(
      'whole account',
    );
  });

  it('a federated principal', () => {
    expect(() => resource({ ...base, Principal: { Federated: 'accounts.example.com' } })).toThrow(
      'Federated',
    );
  });
});

describe('of any policy', () => {
  const action = fc.constantFrom('s3:GetObject', 's3:PutObject', 's3:Get*', 's3:*', '*', 'sqs:SendMessage');
  const on = fc.constantFrom('*', 'arn:aws:s3:::b/*', 'arn:aws:s3:::b/k', 'arn:aws:s3:::c/?');
  const condition = fc.constantFrom<Json>({}, { Bool: { t: 'true' } }, { StringNotEquals: { u: 'v' } });
  const made = (effect: 'Allow' | 'Deny') =>
    fc.record({ Effect: fc.constant(effect), Action: action, Resource: on, Condition: condition });
  const allows = fc.array(made('Allow'), { maxLength: 4 });
  const any = fc.array(fc.oneof(made('Allow'), made('Deny')), { maxLength: 5 });
  const asked = fc.record({
    action: fc.constantFrom('s3:GetObject', 's3:PutObject', 'sqs:SendMessage'),
    resource: fc.constantFrom('arn:aws:s3:::b/k', 'arn:aws:s3:::c/k', 'arn:aws:s3:::c/kk'),
    context: fc.constantFrom<RequestContext>({}, { t: 'true' }, { t: 'false', u: 'v' }),
  });

  it('nothing is allowed by nothing', () => {
    fc.assert(fc.property(asked, (request) => ask(request, []) === 'not allowed'));
  });

  it('one more allow never takes a right away', () => {
    fc.assert(
      fc.property(any, made('Allow'), asked, (statements, more, request) => {
        const before = ask(request, identity(statements));
        const after = ask(request, identity([...statements, more]));
        return before === 'not allowed' || after === before;
      }),
    );
  });

  it('one more deny never gives one, and one that applies always wins', () => {
    fc.assert(
      fc.property(any, made('Deny'), asked, (statements, more, request) => {
        const before = ask(request, identity(statements));
        const after = ask(request, identity([...statements, more]));
        const { Effect: _effect, ...rest } = more;
        const applied = ask(request, identity({ Effect: 'Allow', ...rest })) === 'allowed';
        return applied ? after === 'explicitly denied' : after === before;
      }),
    );
  });

  it('the order of statements does not matter', () => {
    fc.assert(
      fc.property(any, asked, (statements, request) => {
        return ask(request, identity(statements)) === ask(request, identity(statements.toReversed()));
      }),
    );
  });

  it('a right is the same whether it stands with the caller or with the resource', () => {
    fc.assert(
      fc.property(allows, asked, (statements, request) => {
        const there = resource(statements.map((each) => ({ ...each, Principal: '*' })));
        return ask(request, identity(statements)) === ask(request, [], there);
      }),
    );
  });
});
