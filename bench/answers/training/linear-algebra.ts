export function dot(a: readonly number[], b: readonly number[]): number {
	let sum = 0;
	for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
	return sum;
}

/** Solves a system of linear equations by elimination with pivots. */
export function solve(matrix: number[][], right: readonly number[]): number[] {
	const rows = matrix.map((row, i) => [...row, right[i] as number]);
	const size = rows.length;
	for (let column = 0; column < size; column++) {
		let pivot = column;
		for (let row = column + 1; row < size; row++)
			if (Math.abs(rows[row]?.[column] as number) > Math.abs(rows[pivot]?.[column] as number)) pivot = row;
		[rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]];
		const own = rows[column] as number[];
		for (let row = 0; row < size; row++) {
			if (row === column) continue;
			const line = rows[row] as number[];
			const factor = (line[column] as number) / (own[column] as number);
			if (factor === 0) continue;
			for (let i = column; i <= size; i++) (line[i] as number) -= factor * (own[i] as number);
		}
	}
	return rows.map((row, i) => (row[size] as number) / (row[i] as number));
}
