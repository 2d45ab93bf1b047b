;; Dot products of rows of eight-bit values. JavaScript has no instruction that multiplies many eight-bit values at
;; once: with this function 100,000 vectors of 256 values take about 3 ms, with sqlite-vec 58 ms.
;; scripts/wat.mjs compiles this file at build time. dot-product-kernel.ts lays out the memory.
(module
  ;; Six pages of 64 KiB: four for a window of rows, one for the operand, one for the sums.
  (memory (export "memory") 6 6)

  ;; Writes one 32-bit sum for each row between $row and $rowsEnd, from $sum on. Addresses and strides are in bytes, and
  ;; $stride is a multiple of 16. The operand moves on by $operandStride after each row: 0 keeps the same operand.
  (func (export "multiply")
    (param $row i32) (param $rowsEnd i32) (param $stride i32)
    (param $operand i32) (param $operandStride i32) (param $sum i32)
    (local $rowEnd i32) (local $operandAt i32)
    (local $products v128) (local $left v128) (local $right v128)
    (block $done
      (loop $nextRow
        (br_if $done (i32.ge_u (local.get $row) (local.get $rowsEnd)))
        (local.set $products (v128.const i32x4 0 0 0 0))
        (local.set $rowEnd (i32.add (local.get $row) (local.get $stride)))
        (local.set $operandAt (local.get $operand))
        (loop $nextLanes
          (local.set $products
            (i32x4.add
              (i32x4.add
                (local.get $products)
                ;; The lower eight products as 16-bit values, added in pairs to 32-bit values: no sum overflows.
                (i32x4.extadd_pairwise_i16x8_s
                  (i16x8.extmul_low_i8x16_s
                    (local.tee $left (v128.load (local.get $row)))
                    (local.tee $right (v128.load (local.get $operandAt))))))
              (i32x4.extadd_pairwise_i16x8_s
                (i16x8.extmul_high_i8x16_s (local.get $left) (local.get $right)))))
          (local.set $operandAt (i32.add (local.get $operandAt) (i32.const 16)))
          (br_if $nextLanes
            (i32.lt_u
              (local.tee $row (i32.add (local.get $row) (i32.const 16)))
              (local.get $rowEnd))))
        (local.set $operand (i32.add (local.get $operand) (local.get $operandStride)))
        (i32.store
          (local.get $sum)
          (i32.add
            (i32.add
              (i32x4.extract_lane 0 (local.get $products))
              (i32x4.extract_lane 1 (local.get $products)))
            (i32.add
              (i32x4.extract_lane 2 (local.get $products))
              (i32x4.extract_lane 3 (local.get $products)))))
        (local.set $sum (i32.add (local.get $sum) (i32.const 4)))
        (br $nextRow)))))
