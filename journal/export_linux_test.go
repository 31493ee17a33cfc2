package journal

// NetworkName names a file system by its magic number.
var NetworkName = networkName
