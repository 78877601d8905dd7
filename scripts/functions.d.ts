/** For TypeScript, which does not read JavaScript here. */
export declare const FUNCTIONS: readonly ['mcp-endpoint', 'call-tool', 'run-events'];

export declare function bundleFunction(
  name: string,
  outFolder: string,
  options?: { entry?: string; external?: string[] },
): Promise<void>;

export declare function bundleFunctions(outFolder: string): Promise<void>;
