# Runs `python -m secantus` with transactions that end 5 s after their last request, as production sets by
# transactionLifetimeLimitSeconds. The program itself has no option for it; its default is 60 s.
from secantus.cli import main
from secantus.server import SecantusDBServer

SecantusDBServer.__init__.__kwdefaults__["transaction_lifetime_seconds"] = 5.0
raise SystemExit(main())
