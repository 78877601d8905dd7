/**
 * Which fields a state has, by type and query language. Measured on the service (8 types by 50 fields) and published in
 * a public rule set; Type, Comment and QueryLanguage are accepted everywhere.
 */
const words = (text: string): string[] => text.split(' ');

export const COMMON_FIELDS = words('Type Comment QueryLanguage');

const TRANSFORMS = words('InputPath OutputPath Output Assign Next End');
const RESULTS = [...TRANSFORMS, ...words('ResultPath Parameters')];
const FALLIBLE = [...RESULTS, ...words('ResultSelector Retry Catch')];

/** Both languages together, in the order in which the types are named to the caller. */
export const FIELDS_OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  Pass: [...RESULTS, 'Result'],
  Task: [
    ...FALLIBLE,
    ...words(
      'Resource Arguments Credentials TimeoutSeconds TimeoutSecondsPath HeartbeatSeconds HeartbeatSecondsPath',
    ),
  ],
  Wait: [...TRANSFORMS, ...words('Seconds Timestamp SecondsPath TimestampPath')],
  Parallel: [...FALLIBLE, ...words('Arguments Branches')],
  Map: [
    ...FALLIBLE,
    ...words('ItemProcessor Iterator Items ItemsPath ItemSelector ItemReader ItemBatcher ResultWriter Label'),
    ...words('MaxConcurrency MaxConcurrencyPath ToleratedFailureCount ToleratedFailureCountPath'),
    ...words('ToleratedFailurePercentage ToleratedFailurePercentagePath'),
  ],
  Choice: words('InputPath OutputPath Output Assign Choices Default'),
  Succeed: words('InputPath OutputPath Output'),
  Fail: words('Error Cause ErrorPath CausePath'),
};

export const JSONPATH_ONLY: ReadonlySet<string> = new Set([
  ...words('InputPath OutputPath ResultPath Parameters ResultSelector Result ItemsPath ErrorPath CausePath'),
  ...words('SecondsPath TimestampPath TimeoutSecondsPath HeartbeatSecondsPath MaxConcurrencyPath'),
  ...words('ToleratedFailureCountPath ToleratedFailurePercentagePath'),
]);

export const JSONATA_ONLY: ReadonlySet<string> = new Set(words('Arguments Output Items'));
