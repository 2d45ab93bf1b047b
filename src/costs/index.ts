export { Costs, type CostsOptions } from './costs.ts';
