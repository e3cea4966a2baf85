// y = w x + b, and w less a tenth of the row sums of x: w is donated.
module @affine {
  func.func public @main(%w: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<3xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
    %p = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
    %y = stablehlo.add %p, %b : tensor<2xf32>
    %tenth = stablehlo.constant dense<0.1> : tensor<2x3xf32>
    %wide = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %d = stablehlo.multiply %wide, %tenth : tensor<2x3xf32>
    %v = stablehlo.subtract %w, %d : tensor<2x3xf32>
    return %y, %v : tensor<2xf32>, tensor<2x3xf32>
  }
}
