/**
 * What a JSONata expression reads of its surroundings, from its syntax tree: names at the top level, `$$`, and fields of
 * `$states`.
 *
 * Only the first step of a path reads the surroundings. Later steps, filters, sort terms and groups are evaluated on what
 * the step before them gave, so names are free there; a function's body keeps the surroundings of its definition. A path
 * that does not begin with a variable is walked as an expression, its other steps only for variables.
 */
export type FoundReference =
  | { kind: 'name'; name: string }
  | { kind: 'root' }
  | { kind: 'states'; field: string };

interface Node {
  type: string;
  value?: unknown;
  [part: string]: unknown;
}

/** In the order they are written, each once. The tree comes from `jsonata(source).ast()`. */
export function findReferences(ast: unknown): FoundReference[] {
  const found = new Map<string, FoundReference>();
  visit(ast, true);
  return [...found.values()];

  function add(reference: FoundReference): void {
    const key = JSON.stringify(reference);
    if (!found.has(key)) found.set(key, reference);
  }

  /** @param top whether a name here reads the surroundings */
  function visit(value: unknown, top: boolean): void {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, top);
      return;
    }
    if (!isNode(value)) return;
    switch (value.type) {
      case 'path':
        visitPath(value);
        return;
      case 'name':
        if (top) add({ kind: 'name', name: String(value.value) });
        visitParts(value, ['predicate', 'stages', 'group'], false);
        return;
      case 'wildcard':
      case 'descendant':
        visitParts(value, ['predicate', 'stages', 'group'], false);
        return;
      case 'variable':
        if (value.value === '$') add({ kind: 'root' });
        visitParts(value, ['predicate', 'stages', 'group'], false);
        return;
      case 'transform':
        // Pattern and update are evaluated on what is transformed.
        visitParts(value, ['pattern', 'update', 'delete'], false);
        return;
      default:
        for (const [part, each] of Object.entries(value)) {
          if (part === 'predicate' || part === 'stages' || part === 'group') visit(each, false);
          else if (part !== 'value' && part !== 'position') visit(each, top);
        }
    }

    function visitPath(path: Node): void {
      const steps = Array.isArray(path.steps) ? path.steps : [];
      for (const [index, step] of steps.entries()) visit(step, top && index === 0);
      const [first, second] = steps;
      if (isNode(first) && first.type === 'variable' && first.value === 'states' && isNode(second)) {
        if (second.type === 'name') add({ kind: 'states', field: String(second.value) });
      }
      visit(path.group, false);
    }

    function visitParts(node: Node, parts: string[], inner: boolean): void {
      for (const part of parts) visit(node[part], inner);
    }
  }
}

/** Filters and groups are wrapped in objects without a type of their own to us; they are walked through. */
function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}
