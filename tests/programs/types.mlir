// Each element type comes back as it went in.
module @types {
  func.func public @main(%a: tensor<2xi1>, %b: tensor<2xi8>, %c: tensor<2xi16>, %d: tensor<2xi32>, %e: tensor<2xi64>, %f: tensor<2xui8>, %g: tensor<2xui16>, %h: tensor<2xui32>, %i: tensor<2xui64>, %j: tensor<2xf16>, %k: tensor<2xbf16>, %l: tensor<2xf32>, %m: tensor<2xf64>, %n: tensor<2xcomplex<f32>>, %o: tensor<2xcomplex<f64>>) -> (tensor<2xi1>, tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xui16>, tensor<2xui32>, tensor<2xui64>, tensor<2xf16>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>) {
    return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l, %m, %n, %o : tensor<2xi1>, tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xui16>, tensor<2xui32>, tensor<2xui64>, tensor<2xf16>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>
  }
}
