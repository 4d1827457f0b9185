"""Runs one of the scanners of SIPVicious under another User-Agent.

    scanner.py AGENT svmap|svwar|svcrack [arguments of the tool]

As the tools come they name themselves, and are dropped for that alone. AGENT "-" lets them.
"""
import sys

sys.path.insert(0, "/usr/share/sipvicious")
from sipvicious.libs import svhelper

agent, tool = sys.argv[1:3]
sys.argv = [tool] + sys.argv[3:]
make = svhelper.makeRequest


def renamed(*args, **kwargs):
    kwargs["useragent"] = agent
    return make(*args, **kwargs)


if agent != "-":
    svhelper.makeRequest = renamed
if tool == "svmap":
    from sipvicious.svmap import main
elif tool == "svwar":
    from sipvicious.svwar import main
else:
    from sipvicious import svcrack
    from sipvicious.svcrack import main

    # It reads -b and forgets to use it.
    bound = sys.argv[sys.argv.index("-b") + 1]
    create = svcrack.ASipOfRedWine.__init__

    def bind(self, *args, **kwargs):
        create(self, *args, bindingip=bound, **kwargs)

    svcrack.ASipOfRedWine.__init__ = bind
main()
