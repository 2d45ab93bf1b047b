export { callApi } from './api-call.ts';
export { fillRequest, presentRequest } from './api-request.ts';
