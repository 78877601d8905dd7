/**
 * Tools against the live catalog. All of it is warnings: servers come and go, and a saved blueprint may wait for one.
 *
 * Names and schemas come from servers. A name is shown only where it is formed as a name; what a schema says goes into
 * `expected`, never into our sentence.
 */
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { TOOL_NAME } from '../../blueprint/limits.ts';
import { splitToolName } from '../../blueprint/names.ts';
import { listNames } from '../../blueprint/suggest.ts';
import { checkToolArguments } from './arguments.ts';
import type { ToolInfo, ValidationEnvironment } from './environment.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

/** The catalog by name. */
export interface Catalog {
  byName: ReadonlyMap<string, readonly ToolInfo[]>;
  servers: readonly string[];
  unavailable: readonly string[];
}

/** Undefined where the environment says nothing about tools. */
export function indexCatalog(env: ValidationEnvironment): Catalog | undefined {
  if (env.tools === undefined && env.serverNames === undefined) return undefined;
  const byName = new Map<string, ToolInfo[]>();
  for (const tool of env.tools ?? []) byName.set(tool.name, [...(byName.get(tool.name) ?? []), tool]);
  const unavailable = (env.unavailable ?? []).map(({ server }) => server);
  const servers = new Set([...(env.serverNames ?? []), ...(env.tools ?? []).map(({ server }) => server)]);
  return { byName, servers: [...servers].filter((server) => !unavailable.includes(server)), unavailable };
}

/** The one tool that a call step would be bound to now, or undefined. */
export function toolOf(step: OutlineStep, catalog: Catalog | undefined): ToolInfo | undefined {
  const name = step.raw.tool;
  if (catalog === undefined || step.type !== 'call' || typeof name !== 'string') return undefined;
  const { server, tool } = splitToolName(name);
  const offered = catalog.byName.get(tool) ?? [];
  const matching = server === undefined ? offered : offered.filter((each) => each.server === server);
  return matching.length === 1 ? matching[0] : undefined;
}

export function checkTools(outline: Outline, catalog: Catalog, report: Report): void {
  for (const step of outline.all) {
    const name = step.raw.tool;
    if (step.type !== 'call' || typeof name !== 'string' || !TOOL_NAME.test(name)) continue;
    const found = toolOf(step, catalog);
    if (found === undefined) notFound(name, `${step.pointer}/tool`, catalog, report);
    else {
      checkToolArguments(step, found, report);
      checkResult(step, found, report);
    }
  }
}

function notFound(name: string, pointer: string, catalog: Catalog, report: Report): void {
  const { server, tool } = splitToolName(name);
  const got = quoteValue(name);
  if (server === undefined) {
    const offered = catalog.byName.get(tool) ?? [];
    if (offered.length > 1) {
      const choices = offered.map((each) => `${each.server}/${tool}`);
      report.add('BP603', pointer, {
        message: `"${tool}" is offered by ${listNames(offered.map((each) => each.server))}; name the server`,
        got,
        expected: `one of ${listNames(choices)}`,
      });
      return;
    }
    reportUnknown(`no connected server offers the tool "${tool}"`, tool, [...catalog.byName.keys()], '');
    return;
  }
  if (catalog.unavailable.includes(server)) {
    report.add('BP602', pointer, {
      message: `the server "${server}" cannot be reached now, so nothing is known of its tools`,
      got,
      expected: 'a server that can be reached',
    });
  } else if (!catalog.servers.includes(server)) {
    report.add('BP602', pointer, {
      message: `no server "${server}" is configured; the servers are ${listNames(catalog.servers)}`,
      got,
      expected: `one of ${listNames(catalog.servers)}`,
      meant: report.nearest(server, catalog.servers),
    });
  } else {
    const names = [...catalog.byName].filter(([, tools]) => tools.some((each) => each.server === server));
    reportUnknown(
      `the server "${server}" does not offer the tool "${tool}"`,
      tool,
      names.map(([known]) => known),
      `${server}/`,
    );
  }

  function reportUnknown(message: string, wanted: string, names: readonly string[], prefix: string): void {
    const wellFormed = names.filter((each) => TOOL_NAME.test(each));
    const meant = report.nearest(wanted, wellFormed);
    const silent =
      catalog.unavailable.length === 0 ? '' : ` (${listNames(catalog.unavailable)} cannot be reached now)`;
    report.add('BP601', pointer, {
      message: `${message}${silent}`,
      got,
      expected: wellFormed.length === 0 ? 'a connected server' : `one of ${listNames(wellFormed)}`,
      meant: meant === undefined ? undefined : `${prefix}${meant}`,
      hint: 'It is looked up again when the step runs.',
    });
  }
}

function checkResult(step: OutlineStep, tool: ToolInfo, report: Report): void {
  if (tool.outputSchema !== undefined || step.raw.parse !== undefined) return;
  report.add('BP607', step.pointer, {
    message: `"${tool.name}" declares no output schema; say with "parse" how its result is read`,
    got: 'no "parse"',
    expected: '"parse": "json", "yaml", "lines", "text", "structured" or "raw"',
    hint: 'Try the tool once, also the empty and the missing case, to see what it answers.',
  });
}
