;; Sums over rows of 32-bit floats, four values at a time. float-rows.ts lays out the memory and has the same sums in JavaScript.
;; scripts/wat.mjs compiles this file at build time. Addresses are in bytes; rows have a multiple of 16 bytes.
(module
  (memory (import "rows" "memory") 1)

  ;; The dot product of two rows; the first ends at $end.
  (func (export "dot") (param $a i32) (param $b i32) (param $end i32) (result f32)
    (local $sums v128)
    (loop $next
      (local.set $sums
        (f32x4.add (local.get $sums) (f32x4.mul (v128.load (local.get $a)) (v128.load (local.get $b)))))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 16))) (local.get $end))))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
      (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums)))))

  ;; Adds $factor times the row at $from to the row at $to, which ends at $end.
  (func (export "addScaled") (param $to i32) (param $factor f32) (param $from i32) (param $end i32)
    (local $factors v128)
    (local.set $factors (f32x4.splat (local.get $factor)))
    (loop $next
      (v128.store
        (local.get $to)
        (f32x4.add (v128.load (local.get $to)) (f32x4.mul (local.get $factors) (v128.load (local.get $from)))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $to (i32.add (local.get $to) (i32.const 16))) (local.get $end))))))
