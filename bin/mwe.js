#!/usr/bin/env node
import { pathToFileURL } from 'node:url';
import { bundle } from '../scripts/bundle.js';

await import(pathToFileURL(await bundle('lib/cli/main.ts')).href);
