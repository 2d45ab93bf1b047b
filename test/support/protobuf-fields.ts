/** The fields of a message in the wire format of Protocol Buffers. */
export function fieldsOf(bytes: Buffer): { all(field: number): Buffer[]; numbers(field: number): bigint[] } {
	const found: { field: number; value: Buffer | bigint }[] = [];
	let at = 0;
	const take = (length: number): Buffer => {
		at += length;
		return bytes.subarray(at - length, at);
	};
	const readVarint = (): bigint => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = bytes[at++] as number;
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
	};
	while (at < bytes.length) {
		const tag = Number(readVarint());
		const [field, type] = [tag >> 3, tag & 7];
		if (type === 0) found.push({ field, value: readVarint() });
		else if (type === 1) found.push({ field, value: take(8).readBigUInt64LE() });
		else if (type === 5) found.push({ field, value: BigInt(take(4).readUInt32LE()) });
		else if (type === 2) found.push({ field, value: take(Number(readVarint())) });
		else throw new Error(`Unknown wire type ${type}.`);
	}
	const of = (field: number) => found.filter((entry) => entry.field === field).map(({ value }) => value);
	return {
		all: (field) => of(field).filter((value): value is Buffer => typeof value !== 'bigint'),
		numbers: (field) => of(field).filter((value): value is bigint => typeof value === 'bigint'),
	};
}
