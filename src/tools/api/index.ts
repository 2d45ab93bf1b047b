export { callApi } from './api-call.ts';
