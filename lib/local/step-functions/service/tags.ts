/** Tags as the API has them: up to 50 pairs of a key (1 to 128 characters) and a value (up to 256). */
import { isJsonObject, type Json } from '../../../blueprint/json.ts';
import { ApiError } from '../../api-error.ts';
import { validationException } from './api-error.ts';

export interface Tag {
  key: string;
  value: string;
}

/** Throws `ValidationException` or `TooManyTags`. */
export function readTags(list: Json[]): Tag[] {
  const tags = list.map((entry, at): Tag => {
    const key = isJsonObject(entry) ? entry.key : undefined;
    const value = isJsonObject(entry) ? (entry.value ?? '') : undefined;
    const valid =
      typeof key === 'string' &&
      typeof value === 'string' &&
      key.length >= 1 &&
      key.length <= 128 &&
      value.length <= 256;
    if (!valid) {
      throw validationException(
        `1 validation error detected: Value at 'tags.${at + 1}.member' failed to satisfy constraint: Member must be a tag`,
      );
    }
    return { key, value };
  });
  return mergeTags([], tags);
}

/** Later values replace earlier ones of the same key. */
export function mergeTags(tags: Tag[], added: Tag[]): Tag[] {
  const merged = new Map([...tags, ...added].map((tag) => [tag.key, tag]));
  if (merged.size > 50) throw new ApiError('TooManyTags', 'A resource can have at most 50 tags');
  return [...merged.values()];
}
