export { EndUserErasures, type EndUserErasuresOptions } from './end-user-erasures.ts';
