export { SearchReader } from './search-reader.ts';
