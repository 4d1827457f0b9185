# What the lab is made of, by plans: nothing is built.
variables {
  state_dir = "/var/tmp/tandem-lab"
}

run "two_sites_of_three_and_a_witness" {
  command = plan

  assert {
    condition     = join(" ", keys(output.nodes)) == "ash-1 ash-2 ash-3 dal-1 dal-2 dal-3 witness-1"
    error_message = "The nodes are ${join(" ", keys(output.nodes))}."
  }
  assert {
    condition     = join(" ", sort(keys(terraform_data.link))) == "ashburn-iowa dallas-ashburn dallas-iowa"
    error_message = "The links are ${join(" ", sort(keys(terraform_data.link)))}: one for each pair of sites."
  }
  assert {
    condition     = output.sip["ashburn"] == ["10.91.2.11:5060", "10.91.2.12:5060", "10.91.2.13:5060"]
    error_message = "Ashburn's calls go to ${join(" ", output.sip["ashburn"])}."
  }
  assert {
    condition     = yamldecode(local.document).sites[0] == { name = "dallas", peers = ["ashburn"] }
    error_message = "The document names the sites otherwise than the variables."
  }
  assert {
    condition     = length(jsondecode(output.http_sd)) == 7
    error_message = "Prometheus has a target for each node."
  }
}

run "founders_alone_vote" {
  command = plan

  assert {
    condition = alltrue([
      for name, text in module.node_config.node_files :
      can(yamldecode(text).cluster.raft) == contains(["dal-1", "dal-2", "ash-1", "ash-2", "witness-1"], name)
    ])
    error_message = "Nodes beside the founders have voters in their files, or founders have none."
  }
}

run "a_fourth_node_changes_no_other" {
  command = plan
  variables {
    nodes_per_site = 4
  }

  assert {
    condition     = length(output.nodes) == 9 && output.nodes["dal-4"].address == "10.91.1.14"
    error_message = "Four nodes in each of two sites and a witness are nine; they are ${join(" ", keys(output.nodes))}."
  }
  assert {
    condition     = !strcontains(module.node_config.node_files["dal-1"], "dal-4")
    error_message = "The file of dal-1 names dal-4, so that a new node would change those that run."
  }
}

run "a_third_site" {
  command = plan
  variables {
    sites = {
      dallas  = { octet = 1, code = "dal" }
      ashburn = { octet = 2, code = "ash" }
      chicago = { octet = 3, code = "chi", nodes = 2 }
    }
  }

  assert {
    condition     = length(terraform_data.link) == 6 && contains(keys(output.nodes), "chi-2") && !contains(keys(output.nodes), "chi-3")
    error_message = "Three sites and a witness have six links, and Chicago two nodes."
  }
  assert {
    condition     = yamldecode(local.document).sites[2] == { name = "chicago", peers = ["dallas", "ashburn"] }
    error_message = "Chicago hands off to Dallas, then to Ashburn."
  }
  assert {
    condition     = contains([for m in yamldecode(local.document).trunk_groups[0].members : m.address], "10.92.3.11:5060")
    error_message = "Chicago's second PBX is not in the document."
  }
}
