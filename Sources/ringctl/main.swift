internal import Control
internal import Glibc

exit(Ringctl.main(CommandLine.arguments))
