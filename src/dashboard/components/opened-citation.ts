import { signal } from '@preact/signals';
import type { Resource } from '../api/client.ts';

export type Citation = Resource<'Message'>['citations'][number];

/** The citation whose passage was opened last: the page of its document shows whether the passage still has this text. */
export const openedCitation = signal<Citation | null>(null);
