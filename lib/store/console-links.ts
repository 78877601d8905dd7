/**
 * Pages of the AWS console that show where a value lies. They open for whoever may read the table or the bucket, and hold nothing but
 * names and keys.
 *
 * AWS documents none of these addresses; they are those that the console itself shows.
 */
import type { Key } from './keys.ts';

/** Where a value lies: in an item of the table, or in an object that the item names. */
export interface ValueLocation {
  key: Key;
  /** Key of the object. */
  object?: string;
}

export interface ConsolePlaces {
  region: string;
  table: string;
  bucket: string;
}

/** A link to the page of a value: its object's, else its item's. */
export function valueLink(places: ConsolePlaces, { key, object }: ValueLocation): string {
  return object === undefined ? itemLink(places, key) : objectLink(places, object);
}

function itemLink({ region, table }: ConsolePlaces, { pk, sk }: Key): string {
  const item = [
    'itemMode=2',
    `pk=${encodeURIComponent(pk)}`,
    'route=ROUTE_ITEM_EXPLORER',
    `sk=${encodeURIComponent(sk)}`,
    `table=${encodeURIComponent(table)}`,
  ];
  return `${consoleOf(region)}/dynamodbv2/home?region=${region}#edit-item?${item.join('&')}`;
}

function objectLink({ region, bucket }: ConsolePlaces, key: string): string {
  return `${consoleOf(region)}/s3/object/${bucket}?region=${region}&prefix=${encodeURIComponent(key)}`;
}

function consoleOf(region: string): string {
  return `https://${region}.console.aws.amazon.com`;
}
