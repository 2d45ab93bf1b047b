export { type ComparedPart, type ImportOptions, type ImportOutcome, importIntoPostgres } from './import.ts';
