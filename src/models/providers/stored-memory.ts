import type { RememberedPart, RoundMemory } from './round-memory.ts';

/** A part as earlier versions stored it: with metadata under the name of a provider. */
interface EarlierPart {
	metadata: Readonly<Record<string, EarlierMetadata>> | null;
}

interface EarlierMetadata {
	signature?: string;
	redactedData?: string;
	thoughtSignature?: string;
}

/**
 * The memory of a stored round. A reply that an earlier version began and this version goes on with has rounds in the
 * earlier form; without their signatures the service would refuse the next round.
 */
export function storedMemory(memory: unknown): RoundMemory {
	return (memory as ReadonlyArray<RememberedPart & Partial<EarlierPart>>).map((part): RememberedPart => {
		if (part.type === 'text' || part.metadata === undefined) return part;
		const { signature, redactedData, thoughtSignature }: EarlierMetadata = Object.assign(
			{},
			...Object.values(part.metadata ?? {}),
		);
		if (part.type === 'call') return { type: 'call', signature: thoughtSignature ?? null };
		if (redactedData !== undefined) return { type: 'redacted_reasoning', data: redactedData };
		return { type: 'reasoning', text: 'text' in part ? part.text : '', signature: signature ?? null };
	});
}
