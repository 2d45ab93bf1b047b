// Never ends.
export default function run() {
	for (;;);
}
