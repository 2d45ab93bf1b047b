export { SqliteSearchReader } from './search-reader.ts';
