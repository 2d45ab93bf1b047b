/** dot-product.wat in the binary format. `scripts/wat.mjs` makes the module. */
declare const bytes: Uint8Array;
export default bytes;
