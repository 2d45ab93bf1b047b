export { censorPersonalData } from './censor.ts';
export { findValues } from './find-values.ts';
export { type FoundValue, REDACTION_KINDS, type RedactionKind } from './found-value.ts';
export { PlaceholderRestorer } from './placeholder-restorer.ts';
export { Placeholders } from './placeholders.ts';
